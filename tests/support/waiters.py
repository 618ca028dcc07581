#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""waiters.py [SOURCE_DIR]: prints the tests that wait for another thread or process, by the
calls that they and their helpers make.

A line each: "FOLDER FILTER" is for --gtest_filter of test-FOLDER, "FOLDER/NAME" a script. Prints
rather one too many than one too few. A test counts when its body makes threads or processes, or
waits. The functions, fixtures and headers of tests/ that it names count as well.
"""
import pathlib
import re
import sys

MAKES = re.compile(
    r"std::(jthread|thread|async)\b|\bpthread_create\s*\(|\b(v?fork|posix_spawnp?|popen|clone)\s*\(|\bSYS_v?fork\b|std::system\s*\(|"
    r"\b(wait_until|becomes_true|waiting_thread)\b|\bchild(\s+\w+)?\s*\(\["
)
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+),\s*(\w+)\)")
NAMES = re.compile(r"\b(?:class|struct)\s+(\w+)|^(?!TEST|TYPED)[\w:<>,&*\s\[\]]*?\b(\w+)\s*\(", re.M)
# A command in the background, another one's end, or a helper of wait.bash and its kin.
SCRIPT = re.compile(r"[^&>]&\s*(\)|$)|\bwait\b|\bwait_until\b|\buntil_said\b|\bpower_failure\b|\bpause\b|pthread_create|fork\(|threading|mkfifo", re.M)


def without_comments(text):
    return re.sub(r"^\s*//.*$|\s//.*$", "", text, flags=re.M)


def chunks(text):
    """The declarations that begin at the left margin, each to the line that closes it."""
    chunk = []
    for line in without_comments(text).splitlines():
        if re.match(r"(inline )?namespace\b|#|}\s*//|$", line) and not chunk:
            continue
        chunk.append(line)
        if re.match(r"\}|[^ #].*(;|\})\s*$", line) and not re.match(r"template", line):
            yield "\n".join(chunk)
            chunk = []
    if chunk:
        yield "\n".join(chunk)


def defined(chunk):
    head = chunk.split("{", 1)[0]
    # (A child is a part of a tree as well.)
    return {name for pair in NAMES.findall(head) for name in pair if len(name) > 3 and name != "child"}


def waiting_names(texts, known):
    """Names whose definitions make or wait, or use such a name."""
    parts = [(defined(c), c) for text in texts for c in chunks(text) if not TEST.match(c)]
    names = set(known)
    while True:
        found = {n for made, c in parts if made - names and waits(c, names - made) for n in made}
        if found <= names:
            return names
        names |= found


def waits(chunk, names):
    return bool(MAKES.search(chunk)) or bool(names.intersection(re.findall(r"\b\w+\b", chunk)))


def main():
    tests = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tests"
    support = waiting_names([p.read_text() for p in sorted((tests / "support").glob("*.hpp"))], set())
    for folder in sorted(p for p in tests.iterdir() if p.is_dir()):
        beside = waiting_names([p.read_text() for p in sorted(folder.glob("*.hpp"))], support)
        for path in sorted(folder.glob("*.cpp")):
            text = path.read_text()
            names = waiting_names([text], beside)
            for chunk in chunks(text):
                test = TEST.match(chunk)
                if test and waits(chunk, names):
                    kind, suite, case = test.groups()
                    pattern = {"P": "*{}.{}/*", "D": "*{}/*.{}"}.get("D" if kind.startswith("TYPED") else kind[-1], "{}.{}")
                    print(folder.name, pattern.format(suite, case))
        for path in sorted(folder.glob("*.sh")):
            if re.match(r"lib\b", path.name) or folder.name in ("layout", "support"):
                continue
            text = re.sub(r"^\s*#.*$", "", path.read_text(), flags=re.M)
            # Programs in folders next to it: scute-NAME, or of its own name.
            for name in {path.stem, *re.findall(r"\bscute-(\w+)", text)}:
                text += "".join(p.read_text() for p in sorted((folder / name).glob("*.c")))
            if SCRIPT.search(text):
                print(f"{folder.name}/{path.stem}")


main()
