# SPDX-License-Identifier: BSD-3-Clause
"""The programs that are shielded, their pools, and their runs."""
from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Spent, converse, output, spend
from plan import CONFIGS, PLAIN, Config, Work

ROOT = Path(__file__).resolve().parents[2]
BUILD_EXAMPLES = ROOT / "tests" / "interpose" / "examples" / "build.sh"
BUILD_RAW = ROOT / "tests" / "interpose" / "raw" / "build.sh"
CLANG = ("clang-19", "clang++-19")  # the compilers in scute-cc
CLIENTS = 4
COUNTED = ("flushes", "repeated_flushes", "unchanged_flushes", "fences", "empty_fences", "commits", "committed_lines")
SEED = 1
FIRST_KEY = "1000000000"  # some maps fail when an empty one is to lose a key
QUESTION = f"c {FIRST_KEY}\n"  # is answered by a line


def operations(n: int) -> str:
    """Seven inserts to three removals, of keys that come again: maps of about half as many keys as
    operations."""
    chance = random.Random(SEED)
    return "".join(f"{'i' if chance.random() < 0.7 else 'r'} {chance.randrange(n)}\n" for _ in range(n))


def look_ups(n: int) -> str:
    """Of the same keys, each answered by a line."""
    chance = random.Random(SEED + 1)
    return "".join(f"c {chance.randrange(n)}\n" for _ in range(n))


def scripts(n: int) -> list[list[str]]:
    """The requests of clients to the server. Each client has keys of its own. Half of the requests
    set values, of about a hundred bytes."""
    chance = random.Random(SEED + 2)
    return [[f"set {client}-{chance.randrange(1000)} {'a value, or two, ' * chance.randrange(2, 10)}.\n" if chance.random() < 0.5
             else f"get {client}-{chance.randrange(1000)}\n" for _ in range(n // CLIENTS)] for client in range(CLIENTS)]


@dataclass
class Programs:
    """scute: the command. work: a folder for programs. pools: the folder of the files that are
    shielded. mib: size of the pools of values; mapcli chooses its own."""
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
        # The server flushes by instructions of its own: under the shield it is one that scute-cc
        # has compiled.
        wrapper = self.scute.parents[1] / "pass" / "bin"
        for folder, compilers in (("plain", CLANG), ("instrumented", (str(wrapper / "scute-cc"), str(wrapper / "scute-c++")))):
            (self._bin / folder).mkdir()
            output(["bash", str(BUILD_RAW), str(self._bin / folder), *compilers])

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

    def _server(self, config: Config) -> str:
        return str(self._bin / ("plain" if config.run is None else "instrumented") / "item_server")

    def _program(self, work: Work) -> list[str]:
        if work.program == "item_server":
            # its seed, or the size
            return [self._server(CONFIGS[PLAIN]), str(self.pool)]
        words = [str(self._bin / work.program), work.map, str(self.pool)]
        return words + (["7"] if work.program == "mapcli" else [str(self.mib)])

    def command(self, work: Work, config: Config, huge: bool) -> list[str]:
        shield = [] if config.run is None else [str(self.scute), "shield", "run", *config.run,
                                                *(["--huge-pages"] if huge else []), "--"]
        if work.program == "item_server":
            return [*shield, self._server(config), str(self.pool), "--listen", str(self._socket)]
        return shield + self._program(work)

    @property
    def _socket(self) -> Path:
        return self.pools / "map.socket"

    def prepare(self, work: Work, config: Config, filled: int = 0) -> dict[str, Any]:
        """Makes a fresh pool with one key, under the shield if the configuration says so. Returns
        the properties of the shield. filled: by so many operations."""
        self.clear()
        output(self._program(work), "" if work.program == "item_server" else "i " + FIRST_KEY + "\n" + self.input(filled))
        if config.add is None:
            return {}
        return json.loads(output([str(self.scute), "shield", "add", str(self.pool), *config.add, "--json", "-q"]))

    def run(self, work: Work, config: Config, n: int, reads: bool = False, huge: bool = False) -> Spent:
        """huge: its view is in pages of 2 MiB, if it has one."""
        command = self.command(work, config, huge)
        if work.program == "item_server":
            return converse(command, config.run is not None, self._socket, scripts(n), self._errors)
        if reads:
            return spend(command, config.run is not None, QUESTION, look_ups(n), self._errors, n)
        return spend(command, config.run is not None, QUESTION, self.input(n), self._errors)

    def content(self, work: Work, config: Config) -> str:
        """Returns the content of the map as the program reads it without the shield; and the file
        is sound."""
        if config.add is not None:
            output([str(self.scute), "shield", "check", str(self.pool), "-q"])
        held = output(self._program(work), "list\n" if work.program == "item_server" else "p\n")
        if work.program == "item_server":
            held = "".join(sorted(held.splitlines(keepends=True)))  # in no order
        return hashlib.sha256(held.encode()).hexdigest()[:16]

    def counters(self, work: Work, config: Config, n: int) -> dict[str, int]:
        """Returns the audit's counts over all views of the run. They include the opening: some ten
        flushes."""
        self.prepare(work, config)
        # 2: something was never flushed, which is the program's own.
        said = output([str(self.scute), "shield", "audit", *(config.run or ()), "--json", "--", *self._program(work)],
                      self.input(n), (0, 2))
        views = json.loads(said[said.index("{"):])["views"]
        return {name: sum(v[name] for v in views) for name in COUNTED}
