# SPDX-License-Identifier: BSD-3-Clause
"""A target, and whether it is met."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence


@dataclass(frozen=True)
class TargetResult:
    """One target: `ident` is the heading under which explanations.md explains a miss."""
    ident: str
    what: str
    wanted: float
    measured: float | None
    at_most: bool = False
    unit: str = "×"
    plain: float | None = None  # the same over libpmemobj as it comes; decides nothing
    digits: int = 2

    @property
    def met(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted

    def word(self) -> str:
        return {True: "met", False: "**missed**", None: ""}[self.met]

    def line(self) -> list[str]:
        measured = "not measured" if self.measured is None else self._show(self.measured)
        return [self.ident, self.what, f"{'≤' if self.at_most else '≥'} {self.wanted:g}{self.unit}", measured,
                "" if self.plain is None else self._show(self.plain), self.word()]

    def _show(self, value: float) -> str:
        return f"{value:.{self.digits}f}{self.unit}"


@dataclass(frozen=True)
class Score:
    met: int
    measured: int
    wanted: int

    @staticmethod
    def of(target_results: Sequence[TargetResult]) -> "Score":
        return Score(sum(1 for v in target_results if v.met), sum(1 for v in target_results if v.met is not None),
                     len(target_results))

    def __str__(self) -> str:
        """16 of 26, or 16 of 26, 4 not measured."""
        rest = self.wanted - self.measured
        if not self.measured:
            return f"{rest} not measured"
        return f"{self.met} of {self.measured}" + (f", {rest} not measured" if rest else "")
