# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run of the tests, from the JUnit file of ctest: failures first, each with the
end of its output and the command that repeats it alone; the ten slowest tests; how many passed.

  python3 tools/test_summary FILE [--preset P] [--all] [--also FAILED=COMMAND]... [--seconds N]

A test that is a part of a GoogleTest program counts as its cases (cmake/run-cases.sh prints how
many). The last line is "N passed, N failed". Exit status: 1 if something failed, or nothing was
run.
"""

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

LINES_MAX = 60  # of a failed test's output


@dataclass
class Test:
    name: str
    seconds: float
    ran: bool
    passed: bool
    output: str

    def cases(self):
        """How many passed, and how many failed."""
        found = re.search(r"^(\d+) cases passed, (\d+) failed$", self.output, re.M)
        passed, failed = (int(found[1]), int(found[2])) if found else (1, 0)
        if self.passed:
            return passed, failed
        return passed if found else 0, max(failed, 1)

    def repeats(self, command):
        found = re.findall(r"^  repeat: (.*)$", self.output, re.M)
        # Scripts print such lines of runs that have to fail.
        return found if re.search(r"^\d+ cases passed, ", self.output, re.M) and found else [f"{command} {self.name}"]


def read(path):
    tests = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        if status == "disabled":
            continue
        tests.append(Test(case.get("name"), float(case.get("time") or 0), status in ("run", "fail"), status == "run",
                          case.findtext("system-out") or ""))
    return tests


def print_failure(test, command):
    print(f"FAILED {test.name}" + ("" if test.ran else " (it was not run: is its program built?)"))
    lines = [line for line in test.output.rstrip().split("\n") if line.strip()]
    if len(lines) > LINES_MAX:
        print(f"    ... ({len(lines) - LINES_MAX} lines before)")
    for line in lines[-LINES_MAX:]:
        print("    " + line)
    for repeat in test.repeats(command):
        print(f"  alone: {repeat}")
    print()


def main():
    parser = argparse.ArgumentParser(prog="test_summary", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--also", action="append", default=[], help="something else that failed, and the command that repeats it")
    parser.add_argument("--seconds", type=float, help="how long it took")
    options = parser.parse_args()
    try:
        tests = read(options.file)
    except (OSError, ElementTree.ParseError) as error:
        print(f"test_summary: {error}", file=sys.stderr)
        tests = []
    command = "./dev test"
    if options.preset != "release":
        command += f" --preset {options.preset}"
    if options.all:
        command += " --all"

    print()
    for test in tests:
        if not test.passed:
            print_failure(test, command)
    for also in options.also:
        name, _, repeat = also.partition("=")
        print(f"FAILED {name}\n  alone: {repeat}\n")
    slowest = sorted((t for t in tests if t.ran), key=lambda t: -t.seconds)[:10]
    if slowest:
        print("slowest:")
        for test in slowest:
            print(f"  {test.seconds:8.1f} s  {test.name}")
    passed = sum(test.cases()[0] for test in tests)
    failed = sum(test.cases()[1] for test in tests) + len(options.also)
    wall = "" if options.seconds is None else f" in {options.seconds:.0f} s"
    print(f"{len(tests)} tests{wall}, {sum(t.seconds for t in tests):.0f} s of theirs")
    print(f"{passed} passed, {failed} failed")
    return 0 if tests and failed == 0 else 1


sys.exit(main())
