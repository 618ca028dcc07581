# SPDX-License-Identifier: BSD-3-Clause
"""Raises KeyboardInterrupt for Ctrl-C, and for SIGTERM alike. It waits while a process begins: no
caller would know then that the process has to be ended. It also waits while a process is ended."""
from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import Iterator

_depth = 0
_waits = False


def _arrive(*_: object) -> None:
    global _waits
    if _depth != 0:
        _waits = True
    else:
        raise KeyboardInterrupt


def listen() -> None:
    """Call it once, from the main thread. A signal that the parent process has set to be ignored
    stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _arrive)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """An interruption that arrives inside is raised at the end."""
    global _depth, _waits
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0 and _waits:
            _waits = False
            raise KeyboardInterrupt
