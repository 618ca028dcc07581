# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as people read them."""
from __future__ import annotations


def size(n: int) -> str:
    """64 B, 4 KiB."""
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    u = 0
    while u + 1 < len(units) and n >= 1024 and n % 1024 == 0:
        n //= 1024
        u += 1
    return f"{n} {units[u]}"


def time(ns: float) -> str:
    """812 ns, 1.24 ms."""
    if ns < 9.95:
        return f"{ns:.1f} ns"
    if ns < 10_000:
        return f"{ns:.0f} ns"
    if ns < 1e6:
        return f"{ns / 1e3:.1f} µs"
    return f"{ns / 1e6:.2f} ms" if ns < 1e9 else f"{ns / 1e9:.2f} s"


def rate(per_second: float) -> str:
    """950 /s, 17.2 k/s, 1.31 M/s."""
    if per_second < 1e3:
        return f"{per_second:.0f} /s"
    if per_second < 1e6:
        return f"{per_second / 1e3:.3g} k/s"
    return f"{per_second / 1e6:.3g} M/s"


def count(n: int) -> str:
    """1 M, 20 k, 123."""
    for unit, name in ((1_000_000, " M"), (1_000, " k")):
        if n >= unit and n % unit == 0:
            return f"{n // unit}{name}"
    return str(n)


def threads(n: int) -> str:
    return f"{n} thread" if n == 1 else f"{n} threads"


def percent(share: float) -> str:
    return f"{share * 100:.1f} %" if abs(share) < 0.0995 else f"{share * 100:.0f} %"


def brief(value: float) -> str:
    """Three digits, and no exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
