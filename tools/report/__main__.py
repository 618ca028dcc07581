# SPDX-License-Identifier: BSD-3-Clause
"""The part of `./dev bench` after the measuring: `python3 tools/report COMMAND`.

  write [FOLDER...]    writes FOLDER/report.md and plots, from FOLDER/results.jsonl and
                       machine.json; without FOLDER, those of every kind of processor
  adopt RAW FOLDER     copies the results of a run that has just ended from RAW to FOLDER, and
                       writes its report
  compare OLD NEW      prints the changes between two files of results; exit status 1 if something
                       regressed
  shield [FOLDER...]   writes the report of the shield as `write` does for the others; with --adopt
                       RAW, as `adopt`
  kind                 prints the kind of this machine's processor
  check PAGE...        checks that the index of the kinds, and each PAGE's tables from reports, are
                       current
"""
from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import index
import instructions
import kinds
import machine as machines
import slower
import summary
from rows import BadFile, Rows

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "bench" / "report"  # a folder for each kind of processor
GOLDEN = ROOT / "tests" / "instructions" / "golden.txt"


class Progress:
    """One line that is kept up to date on a terminal, a line per step elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._steps = 0

    def __call__(self, what: str) -> None:
        self._steps += 1
        line = f"drawing {self._steps}: {what}"
        print(f"\r\033[K{line}" if self._terminal else line, end="" if self._terminal else "\n",
              file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def write(folder: Path, reports: Path) -> None:
    import report  # matplotlib takes a moment, and comparing does without

    rows = Rows.load(folder / "results.jsonl")
    if not len(rows):
        raise BadFile(f"{folder / 'results.jsonl'} holds no results")
    machine = machines.load(folder / "machine.json")
    # The explanations for the kind of processor hold for a smaller run on it as well.
    texts = slower.explanations(f / index.EXPLANATIONS for f in (folder, reports / kinds.of_machine(machine)))
    progress = Progress()
    try:
        pictures = report.write(folder, rows, machine, instructions.load(folder / instructions.FILE), texts,
                                progress)
    finally:
        progress.end()
    print(f"{folder / 'report.md'}: {len(rows)} rows, {len(pictures)} plots", file=sys.stderr)
    for name in dict.fromkeys(slower.unexplained(rows, texts)):
        print(f"{folder / 'report.md'}: slower than the peer, and {slower.NOT_EXPLAINED}: {name}", file=sys.stderr)
    if folder.resolve().parent == reports.resolve():
        index.write(reports)


def adopt(raw: Path, folder: Path, reports: Path, seconds: float, command: str) -> None:
    Rows.load(raw / "results.jsonl")  # before anything is replaced
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(raw / "results.jsonl", folder / "results.jsonl")
    if GOLDEN.is_file():
        shutil.copyfile(GOLDEN, folder / instructions.FILE)
    described = machines.load(raw / "machine.json")
    machines.save(folder / "machine.json", machines.complete(described, ROOT, seconds, command))
    write(folder, reports)


def write_shield(folder: Path, reports: Path) -> None:
    import shield_report
    from shield_rows import Results

    results = Results.load(folder / "results.jsonl")
    if not results.cells:
        raise BadFile(f"{folder / 'results.jsonl'} holds no results")
    progress = Progress()
    try:
        pictures = shield_report.write(folder, results, machines.load(folder / "machine.json"), progress)
    finally:
        progress.end()
    print(f"{folder / 'report.md'}: {len(results.cells)} cells, {len(pictures)} plots", file=sys.stderr)
    if folder.resolve().parent == (reports / kinds.SHIELD).resolve():
        index.write(reports)


def adopt_shield(raw: Path, folder: Path, reports: Path, seconds: float, command: str) -> None:
    from shield_rows import Results

    Results.load(raw / "results.jsonl")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(raw / "results.jsonl", folder / "results.jsonl")
    described = {**machines.host(), **machines.load(raw / "machine.json")}
    machines.save(folder / "machine.json", machines.complete(described, ROOT, seconds, command, ("libpmemobj",)))
    write_shield(folder, reports)


def compare(old: Path, new: Path) -> int:
    import compare as comparing

    result = comparing.compare(Rows.load(old), Rows.load(new))
    pairs = [machines.load(path.with_name("machine.json")) for path in (old, new)]
    for line in machines.different(*pairs):
        print(f"note: not the same machine or way of measuring, {line}", file=sys.stderr)
    print(comparing.text(result), end="")
    return 1 if result.regressed else 0


def check(pages: list[Path], reports: Path) -> int:
    wrong = [w for page in pages for w in summary.check(page, reports)]
    there = reports / index.FILE
    if not there.is_file() or there.read_text(encoding="utf-8") != index.text(reports):
        wrong.append(f"{there} is not current: ./dev bench --redraw writes it")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="report", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=Path, default=COMMITTED, help="where the kinds' folders are")
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("write")
    p.add_argument("folders", type=Path, nargs="*")
    p = commands.add_parser("adopt")
    p.add_argument("raw", type=Path)
    p.add_argument("folder", type=Path)
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--ran", default="./dev bench")
    p = commands.add_parser("shield")
    p.add_argument("folders", type=Path, nargs="*")
    p.add_argument("--adopt", type=Path, metavar="RAW")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--ran", default="./dev bench --shield")
    p = commands.add_parser("compare")
    p.add_argument("old", type=Path)
    p.add_argument("new", type=Path)
    p = commands.add_parser("kind")
    p.add_argument("--cpuinfo", type=Path, default=Path("/proc/cpuinfo"))
    p = commands.add_parser("check")
    p.add_argument("pages", type=Path, nargs="*")
    a = parser.parse_args()
    try:
        if a.command == "write":
            folders = a.folders or kinds.folders(a.reports)
            if not folders:
                raise BadFile(f"{a.reports} holds no results")
            for folder in folders:
                write(folder, a.reports)
        elif a.command == "adopt":
            adopt(a.raw, a.folder, a.reports, a.seconds, a.ran)
        elif a.command == "shield":
            folders = a.folders or kinds.folders(a.reports / kinds.SHIELD)
            if not folders:
                raise BadFile(f"{a.reports / kinds.SHIELD} holds no results")
            for folder in folders:
                if a.adopt:
                    adopt_shield(a.adopt, folder, a.reports, a.seconds, a.ran)
                else:
                    write_shield(folder, a.reports)
        elif a.command == "kind":
            print(kinds.of_this_machine(a.cpuinfo))
        elif a.command == "check":
            return check(a.pages, a.reports)
        else:
            return compare(a.old, a.new)
    except (BadFile, OSError) as e:
        print(f"report: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
