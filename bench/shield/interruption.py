# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C, and SIGTERM as if it were that: KeyboardInterrupt, but not while a process begins, of which nobody would know
then that it has to be ended, and not while it is ended."""
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
    """From the main thread, once. What whoever started this has told it to ignore stays ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _arrive)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What arrives inside is raised at the end."""
    global _depth, _waits
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if _depth == 0 and _waits:
            _waits = False
            raise KeyboardInterrupt
