#!/usr/bin/env python3
"""same_tokens.py [--strings] [OLD [NEW]]

Proves that a rewrite of comments changes no code: compares the tokens of two revisions, by
default HEAD~1 with the working tree. C, C++ and Python are compared token by token, without
comments and the space between tokens; shell and CMake line by line, without lines that are
comments. The first difference of each file is printed, and the exit status is 1 if there is one.
A file that only one side has is a difference.

--strings allows string literals to change, and to be divided differently, and prints each
changed pair. In shell and CMake it allows nothing more: there, a string is a part of its line.
"""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lexer import language, line_tokens  # noqa: E402


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE).stdout.decode("utf-8", "surrogateescape")


def content(root, revision, path):
    if revision:
        return git("show", f"{revision}:{path}")
    return (root / path).read_bytes().decode("utf-8", "surrogateescape")


def tokens(lex, text, join):
    """[(kind, text, line)] without comments. With `join`, string literals that follow one
    another are one."""
    result = []
    for kind, word, line in lex(text):
        if kind == "comment":
            continue
        if join and kind == "string" and lex is not line_tokens and result and result[-1][0] == "string":
            result[-1] = (kind, result[-1][1] + " " + word, result[-1][2])
        else:
            result.append((kind, word, line))
    return result


def compare(path, old_text, new_text, strings):
    """(the first difference or None, [(line, old, new)] of strings that changed)."""
    lex = language(path, old_text.split("\n", 1)[0])
    if not lex or old_text == new_text:
        return None, []
    old, new = tokens(lex, old_text, strings), tokens(lex, new_text, strings)
    changed = []
    for (kind, word, line), (new_kind, new_word, new_line) in zip(old, new):
        if (kind, word) == (new_kind, new_word):
            continue
        if strings and lex is not line_tokens and kind == new_kind == "string":
            changed.append((new_line, word, new_word))
            continue
        return f"{path}:{new_line}: {new_word!r} was {word!r} in line {line}", changed
    if len(old) != len(new):
        longer, verb = (old, "is gone") if len(old) > len(new) else (new, "is new")
        _, word, line = longer[min(len(old), len(new))]
        return f"{path}:{line}: {word!r} {verb}", changed
    return None, changed


def main(arguments):
    strings = "--strings" in arguments
    revisions = [a for a in arguments if a != "--strings"]
    if len(revisions) > 2 or any(a.startswith("-") for a in revisions):
        print(__doc__.strip())
        return 2
    old, new = (revisions + ["HEAD~1", ""][len(revisions) :])[:2] if revisions else ("HEAD~1", "")
    root = Path(git("rev-parse", "--show-toplevel").strip())
    listing = git("-C", str(root), "diff", "--name-status", "--no-renames", "-z", old, *([new] if new else []), "--")
    fields = listing.split("\0")[:-1]
    files = differences = literals = 0
    for status, path in zip(fields[::2], fields[1::2]):
        only = {"A": new, "D": old}.get(status)
        if status in "AD":
            first = content(root, only, path).split("\n", 1)[0]
            if language(path, first):
                print(f"{path}: {'is new' if status == 'A' else 'is gone'}")
                differences += 1
            continue
        difference, changed = compare(path, content(root, old, path), content(root, new, path), strings)
        files += 1
        for line, was, now in changed:
            print(f"{path}:{line}: string\n  - {was}\n  + {now}")
        literals += len(changed)
        if difference:
            print(difference)
            differences += 1
    if differences:
        return 1
    print(f"{files} changed files have the same tokens" + (f", {literals} strings differ" if strings else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
