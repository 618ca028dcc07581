# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is: one line that is kept up to date on a terminal, a line per step elsewhere."""
from __future__ import annotations

import sys
import time


class Progress:
    def __init__(self, quiet: bool = False) -> None:
        self._terminal = sys.stderr.isatty()
        self._quiet = quiet
        self._begin = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def __call__(self, what: str) -> None:
        if self._quiet:
            return
        line = f"{int(self.seconds) // 60}:{int(self.seconds) % 60:02d}  {what}"
        print(f"\r\033[K{line}" if self._terminal else line, end="" if self._terminal else "\n", file=sys.stderr,
              flush=True)

    def end(self) -> None:
        if self._terminal and not self._quiet:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
