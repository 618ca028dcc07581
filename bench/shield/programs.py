# SPDX-License-Identifier: BSD-3-Clause
"""The programs that are shielded, their pools, and their runs."""
from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Spent, output, spend
from plan import Config, Work

ROOT = Path(__file__).resolve().parents[2]
BUILD_EXAMPLES = ROOT / "tests" / "interpose" / "examples" / "build.sh"
COUNTED = ("flushes", "repeated_flushes", "unchanged_flushes", "fences", "empty_fences", "commits", "committed_lines")
SEED = 1
FIRST_KEY = "1000000000"  # some maps fail when an empty one is to lose a key
QUESTION = f"c {FIRST_KEY}\n"  # is answered by a line


def operations(n: int) -> str:
    """Seven inserts to three removals, of keys that come again: maps of about half as many keys as operations."""
    chance = random.Random(SEED)
    return "".join(f"{'i' if chance.random() < 0.7 else 'r'} {chance.randrange(n)}\n" for _ in range(n))


@dataclass
class Programs:
    """scute: the command. work: a folder for programs. pools: where the files lie that are shielded. mib: size of the pools of
    values; mapcli chooses its own."""
    scute: Path
    work: Path
    pools: Path
    mib: int = 160

    def __post_init__(self) -> None:
        self._bin = self.work / "bin"
        self._bin.mkdir()
        self._inputs: dict[int, str] = {}
        self._errors = self.work / "errors"
        output(["bash", str(BUILD_EXAMPLES), str(self._bin), "mapcli", "values"])

    def input(self, n: int) -> str:
        if n not in self._inputs:
            self._inputs[n] = operations(n)
        return self._inputs[n]

    @property
    def pool(self) -> Path:
        return self.pools / "map"

    def clear(self) -> None:
        for path in self.pools.glob("map*"):
            path.unlink()

    def _program(self, work: Work) -> list[str]:
        words = [str(self._bin / work.program), work.map, str(self.pool)]
        return words + (["7"] if work.program == "mapcli" else [str(self.mib)])  # its seed, or the size

    def command(self, work: Work, config: Config) -> list[str]:
        shield = [] if config.run is None else [str(self.scute), "shield", "run", *config.run, "--"]
        return shield + self._program(work)

    def prepare(self, work: Work, config: Config) -> dict[str, Any]:
        """A fresh pool with one key, under the shield if the configuration says so; what the shield is then."""
        self.clear()
        output(self._program(work), "i " + FIRST_KEY + "\n")
        if config.add is None:
            return {}
        return json.loads(output([str(self.scute), "shield", "add", str(self.pool), *config.add, "--json", "-q"]))

    def run(self, work: Work, config: Config, n: int) -> Spent:
        return spend(self.command(work, config), config.run is not None, QUESTION, self.input(n), self._errors)

    def content(self, work: Work, config: Config) -> str:
        """What the map holds, by the program without the shield; and the file is sound."""
        if config.add is not None:
            output([str(self.scute), "shield", "check", str(self.pool), "-q"])
        held = output(self._program(work), "p\n")
        return hashlib.sha256(held.encode()).hexdigest()[:16]

    def counters(self, work: Work, config: Config, n: int) -> dict[str, int]:
        """What the audit counts, over all views of the run. The opening is among it: some ten flushes."""
        self.prepare(work, config)
        # 2: something was never flushed, which is the program's own.
        said = output([str(self.scute), "shield", "audit", *(config.run or ()), "--json", "--", *self._program(work)],
                      self.input(n), (0, 2))
        views = json.loads(said[said.index("{"):])["views"]
        return {name: sum(v[name] for v in views) for name in COUNTED}
