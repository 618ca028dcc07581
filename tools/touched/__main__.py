# SPDX-License-Identifier: BSD-3-Clause
"""Which sources a change touches: of the C and C++ files of a tree, those that have changed, and
those that include one of these, directly or through others.

  git diff --name-only COMMIT | python3 tools/touched ROOT

An include counts for every file whose path ends with it. So there may be one source too many, and
there is none too few. If a file that decides how all sources are checked has changed, all are
printed.
"""

import posixpath
import re
import sys
from collections import defaultdict
from pathlib import Path

FOLDERS = ("include", "src", "tools", "sim", "tests", "fuzz", "bench", "examples", "workloads")
ENDINGS = (".c", ".cpp", ".h", ".hpp", ".inc")
ABOUT_ALL = re.compile(r"^\.clang-tidy$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)


def main():
    root = Path(sys.argv[1])
    files = sorted(str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*")
                   if path.suffix in ENDINGS)
    changed = {line.strip() for line in sys.stdin}
    if any(ABOUT_ALL.match(file) for file in changed):
        touched = set(files)
    else:
        by_name = defaultdict(list)
        for file in files:
            by_name[posixpath.basename(file)].append(file)
        included_by = defaultdict(set)
        for file in files:
            for text in INCLUDE.findall((root / file).read_text(errors="replace")):
                end = re.sub(r"^(\.\./)+", "", posixpath.normpath(text))
                for target in by_name[posixpath.basename(end)]:
                    if target == end or target.endswith("/" + end):
                        included_by[target].add(file)
        # A missing file is included by no other.
        touched, left = set(), [file for file in files if file in changed]
        while left:
            file = left.pop()
            if file not in touched:
                touched.add(file)
                left.extend(included_by[file])
    for file in sorted(touched):
        if file.endswith((".c", ".cpp")):
            print(file)


main()
