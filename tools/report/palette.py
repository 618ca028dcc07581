# SPDX-License-Identifier: BSD-3-Clause
"""How a system looks: the same colour, hatch and marker in every plot, and the same place in the
order.

The hues are Okabe and Ito's, which people with colour vision deficiencies can tell apart. Relatives
share a hue and differ in lightness; hatches and markers repeat the difference for print in grey."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable


@dataclass(frozen=True)
class Look:
    color: str
    hatch: str = ""
    marker: str = "o"
    dashed: bool = False


_LOOKS: dict[str, Look] = {
    # Scute with a redo log: blue, darker with more protection.
    "redo-none": Look("#cfe8f7", "", "v"),
    "redo-ml": Look("#8fcbee", "", "<"),
    "redo-mlp": Look("#3f97d0", "", ">"),
    "redo-mlpc": Look("#00528a", "", "^"),
    # Scute without a log: green. The default is the strongest of them.
    "plain-mlpc": Look("#8ad9be", "//", "s"),
    "logfree-mlpc": Look("#009e73", "", "o"),
    "logfree2-mlpc": Look("#00523b", "", "D"),
    # Scute with a speculative log: violet.
    "spec-none": Look("#d6c9ee", "", "<"),
    "spec-flush": Look("#a991d6", "//", ">"),
    "spec-mlpc": Look("#6a3fb5", "", "H"),
    # The same over the cap of its log.
    "cap-2-percent": Look("#d6c9ee", "", "<"),
    "cap-5-percent": Look("#a991d6", "", ">"),
    "cap-10-percent": Look("#6a3fb5", "", "^"),
    "cap-20-percent": Look("#3c1f73", "", "v"),
    # Scute, structures in DRAM.
    "pow": Look("#c2185b", "", "P"),
    "pow-none": Look("#e78ab0", "//", "p"),
    "pow-none-padded": Look("#e78ab0", "..", "x"),
    "pow-none-cached": Look("#f3c4d7", "", "1"),
    "pow-none-cached-padded": Look("#f3c4d7", "..", "2"),
    "pow-none-medium": Look("#8e1246", "", "3"),
    "pow-none-medium-padded": Look("#8e1246", "..", "4"),
    "pow-none-medium-cached": Look("#b5648a", "", "1"),
    "pow-none-medium-cached-padded": Look("#b5648a", "..", "2"),
    "pow-none-inline": Look("#7a4a00", "", "s"),
    "25 % live": Look("#e69f00", "", "v"),
    "50 % live": Look("#0072b2", "", "o"),
    "90 % live": Look("#009e73", "", "^"),
    # Ranges edited in place.
    "redo-none-in-place": Look("#cfe8f7", "xx", "v"),
    "logfree-mlpc-in-place": Look("#009e73", "xx", "o"),
    "spec-none-in-place": Look("#d6c9ee", "xx", "<"),
    "spec-mlpc-in-place": Look("#6a3fb5", "xx", "H"),
    # Peers.
    "libpmemobj": Look("#e69f00", "", "X"),
    "libpmemobj-huge": Look("#f5cf80", "//", "8"),
    "libpmemobj-eadr": Look("#e69f00", "..", "X"),
    "libpmemobj-elements": Look("#9c6b00", "xx", "4"),
    "lmdb": Look("#d55e00", "", "P"),
    "sqlite": Look("#f0e442", "", "p"),
    "rocksdb": Look("#cc79a7", "", "*"),
    "level-in-place": Look("#d55e00", "..", "P"),
    "level-in-place-eadr": Look("#d55e00", "xx", "P"),
    # Limits.
    "raw-logfree": Look("#4d4d4d", "", "1", True),
    "raw-log": Look("#8c8c8c", "..", "2", True),
    "raw-redo": Look("#b3b3b3", "//", "3", True),
    # A log of whole objects, and the ways to write one: a hue of its own, lighter with the objects
    # in a file.
    "raw-pow": Look("#5b3a8e", "", "4", True),
    "raw-pow-padded": Look("#5b3a8e", "..", "x", True),
    "raw-pow-cached": Look("#9a7fc7", "", "1", True),
    "raw-pow-cached-padded": Look("#9a7fc7", "..", "2", True),
    "raw-pow-medium": Look("#a35f00", "", "3", True),
    "raw-pow-medium-padded": Look("#a35f00", "..", "4", True),
    "raw-pow-medium-cached": Look("#d9a766", "", "1", True),
    "raw-pow-medium-cached-padded": Look("#d9a766", "..", "2", True),
    "memcpy": Look("#777777", "", "d", True),
    "no-log": Look("#5e5e5e", "//", "+", True),
    "volatile": Look("#c9c9c9", "..", "h", True),
    "read": Look("#777777", "", "d", True),
    "pwrite": Look("#777777", "", "d", True),
    # Policies of testing checksums.
    "default": Look("#009e73"),
    "scrub-tenth": Look("#8fcbee"),
    "scrub-twentieth": Look("#3f97d0"),
    "conservative": Look("#00528a"),
    # Ways to run a program under the shield.
    "interposed": Look("#b3b3b3", "//", "3"),
    "windows": Look("#009e73", "", "o"),
    "per-fence": Look("#d55e00", "", "P"),
    "N = 1": Look("#cfe8f7", "", "v"),
    "N = 20": Look("#8fcbee", "", "<"),
    "N = 50": Look("#3f97d0", "", ">"),
    "N = 100": Look("#009e73", "", "o"),
    "N = 1000": Look("#00528a", "", "^"),
    "P = 2": Look("#a991d6", "", "H"),
    "P = 4": Look("#6a3fb5", "//", "s"),
    # The files next to a shielded file.
    "logfree, N = 100, P = 1": Look("#009e73", "", "o"),
    "logfree, N = 50, P = 1": Look("#3f97d0", "", ">"),
    "logfree, N = 20, P = 1": Look("#00528a", "", "<"),
    "logfree, N = 100, P = 2": Look("#a991d6", "", "H"),
    "logfree, N = 100, P = 4": Look("#6a3fb5", "", "s"),
    "spec, N = 100, P = 1": Look("#d55e00", "", "P", True),
    "a header of 32 bytes": Look("#009e73", "", "o"),
    "a checksum of 4 bytes": Look("#d55e00", "", "P", True),
    # Kernels: the two ways, on cold and on hot lines.
    "atomic-shared": Look("#d55e00", "", "o"),
    "vector-exclusive": Look("#0072b2", "", "s"),
    "cached": Look("#d55e00", "", "o"),
    "non-temporal": Look("#0072b2", "", "s"),
    "cached-hot": Look("#e69f00", "", "^", True),
    "non-temporal-hot": Look("#56b4e9", "", "v", True),
}

_OTHERS = (Look("#5b3a8e"), Look("#a35f00", "//"), Look("#3d3d3d", ".."), Look("#b5a6d6", "xx"))

# Kinds of bytes, and stages of a commit: a palette of their own, since they are no systems.
_PARTS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
          "#00523b", "#5b3a8e", "#8ad9be", "#3d3d3d")


def part(i: int) -> str:
    return _PARTS[i % len(_PARTS)]


def look(name: str) -> Look:
    """An unknown name gets one of a few spare looks, by the name alone: the same one each time."""
    if name in _LOOKS:
        return _LOOKS[name]
    base = name.split(" ")[0]
    if base in _LOOKS:
        return Look(_LOOKS[base].color, "xx", _LOOKS[base].marker)
    return _OTHERS[sum(name.encode()) % len(_OTHERS)]


def order(names: Iterable[str]) -> list[str]:
    """Known systems in the order above, others after them."""
    known = list(_LOOKS)

    def place(name: str) -> tuple[int, str]:
        base = name if name in _LOOKS else name.split(" ")[0]
        return (known.index(base) if base in _LOOKS else len(known), name)

    return sorted(dict.fromkeys(names), key=place)
