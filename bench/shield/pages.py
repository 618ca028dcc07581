# SPDX-License-Identifier: BSD-3-Clause
"""Files in shared memory in pages of 2 MiB, as DAX files are mapped (MADV_COLLAPSE, Linux 6.1)."""
from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
from pathlib import Path

HUGE = 2 << 20
MAP_FIXED, MADV_COLLAPSE = 0x10, 25
_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


TRIES = 5  # Linux may not have 2 MiB in one piece at this moment


def collapse(path: Path) -> int:
    """Returns how many of the file's whole pieces of 2 MiB are one page now. A hole in such a piece
    takes memory then."""
    size = path.stat().st_size // HUGE * HUGE
    if size == 0:
        return 0
    room = _libc.mmap(None, size + HUGE, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if room == _FAILED:
        raise OSError(ctypes.get_errno(), "no room for a mapping")
    fd = os.open(path, os.O_RDWR)
    try:
        at = (room + HUGE - 1) & -HUGE
        if _libc.mmap(at, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | MAP_FIXED, fd, 0) != at:
            return 0
        made = 0
        for offset in range(0, size, HUGE):
            os.posix_fallocate(fd, offset, 4096)  # of a hole alone the kernel makes none
            made += any(_libc.madvise(at + offset, HUGE, MADV_COLLAPSE) == 0 for _ in range(TRIES))
        return made
    finally:
        os.close(fd)
        _libc.munmap(room, size + HUGE)


def granted(folder: Path) -> bool:
    """Whether files in this folder can have them."""
    with tempfile.NamedTemporaryFile(dir=folder) as probe:
        os.truncate(probe.name, HUGE)
        return collapse(Path(probe.name)) == 1
