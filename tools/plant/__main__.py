# SPDX-License-Identifier: BSD-3-Clause
"""Makes the copies of sources that have planted bugs.

  python3 tools/plant SOURCES SITES COPIES                    write the copies
  python3 tools/plant SOURCES SITES COPIES --record FILE...   take over what was edited in copies

SOURCES is src/. SITES is a folder of text files, one for each room of src/; tests/planted/sites
has them. COPIES gets a copy of each source that they name, and loses those of other sources. A copy
that does not change is not written again, so that it is not compiled again either.

A text file has changes, each with a blank line before it:

  == core/engine/redo/redo.cpp
    const uint64_t n = lines();
  -   w.flush(line, n);
  +   if (!SCUTE_PLANTED(redo_flush)) w.flush(line, n);

As in a unified diff, a line with a minus is taken out, one with a plus is put in, and one with a
space only says where. Blanks, line breaks and comments do not matter: what is compared are the
tokens of C++. Together the lines with a minus or a space must occur exactly once in the source.
Otherwise no copy is written, and each change that has no place is printed. To correct one, edit
the text file; or edit the copy, and record it.
"""

import argparse
import difflib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|[0-9][\w.']*|->|::|&&|\|\||\S""",
    re.S,
)
HEADER = '#include "planted/planted.hpp"\n'


class Misfit(Exception):
    pass


@dataclass
class Change:
    source: str
    where: str  # "file:line" of the change
    before: list = field(default_factory=list)  # lines that say where
    out: list = field(default_factory=list)
    into: list = field(default_factory=list)
    after: list = field(default_factory=list)

    def text(self):
        lines = [f"== {self.source}"]
        for mark, part in ((" ", self.before), ("-", self.out), ("+", self.into), (" ", self.after)):
            lines += [f"{mark} {line}".rstrip() for line in part]
        return "\n".join(lines) + "\n"


def tokens(text):
    """[(token, begin, end)], without blanks and comments."""
    return [(m[0], m.start(), m.end()) for m in TOKEN.finditer(text) if m["skip"] is None]


def words(lines):
    return [t for t, _, _ in tokens("\n".join(lines))]


def changes_of(file):
    change, number = None, 0
    for number, line in enumerate(file.read_text().splitlines(), 1):
        where = f"{file}:{number}"
        if line.startswith("== "):
            change = Change(line[3:].strip(), where)
            yield change
            continue
        if not line.strip() or line.startswith("#"):
            change = None if not line.strip() else change
            continue
        if change is None or line[0] not in " -+":
            raise Misfit(f"{where}: a line of a change begins with a blank, a minus or a plus, after a line `== SOURCE`")
        if line[0] == " ":
            (change.after if change.out or change.into else change.before).append(line[2:])
        elif change.after:
            raise Misfit(f"{where}: a change has one place; begin another one")
        else:
            (change.out if line[0] == "-" else change.into).append(line[2:])


def places(have, wanted):
    """Where the tokens `wanted` occur in `have`."""
    first = wanted[0]
    return [i for i in range(len(have) - len(wanted) + 1) if have[i] == first and have[i : i + len(wanted)] == wanted]


def planted(text, changes):
    """The text with the changes made."""
    found = tokens(text)
    have = [t for t, _, _ in found]
    edits, misfits = [], []
    for c in changes:
        before, out, after = words(c.before), words(c.out), words(c.after)
        at = places(have, before + out + after) if before + out + after else []
        if len(at) != 1:
            misfits.append(f"{c.where}: the lines of {c.source} that this change is about occur {len(at)} times there, not once")
            continue
        begin, end = at[0] + len(before), at[0] + len(before) + len(out)
        if out:
            edits.append((found[begin][1], found[end - 1][2], c))
        else:
            place = found[begin - 1][2] if before else found[begin][1]
            edits.append((place, place, c))
    edits.sort(key=lambda e: e[:2])
    for one, two in zip(edits, edits[1:]):
        if two[0] < one[1]:
            misfits.append(f"{two[2].where}: changes the same place as {one[2].where}")
    if misfits:
        raise Misfit("\n".join(misfits))
    parts, last = [HEADER], 0
    for begin, end, c in edits:
        parts += [text[last:begin], "\n" if begin == end else "", "\n".join(c.into), "\n"]
        last = end
    return "".join(parts) + text[last:]


def recorded(source, text, copy):
    """The changes that make `copy` of `text`, as few lines as say where."""
    lines, into = text.splitlines(), copy.removeprefix(HEADER).splitlines()
    have = words(lines)
    shorn = lambda part: [" ".join(words([line])) for line in part]
    kept = lambda part: [line for line in part if words([line])]
    changes = []
    for what, a, b, c, d in difflib.SequenceMatcher(None, shorn(lines), shorn(into), autojunk=False).get_opcodes():
        if what == "equal" or words(lines[a:b]) == words(into[c:d]):
            continue
        for k in range(2 * len(lines)):
            low, high = max(a - (k + 1) // 2, 0), min(b + k // 2, len(lines))
            wanted = words(lines[low:high])
            if wanted and (words(lines[a:b]) or words(lines[low:a])) and len(places(have, wanted)) == 1:
                break
        else:
            raise Misfit(f"{source}: no lines around line {a + 1} occur once")
        changes.append(Change(source, source, kept(lines[low:a]), kept(lines[a:b]), [x for x in into[c:d] if x.strip()], kept(lines[b:high])))
    return changes


def write(path, text):
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def is_copy(path):
    with path.open("rb") as file:
        return file.read(len(HEADER)) == HEADER.encode()


def main():
    parser = argparse.ArgumentParser(prog="plant", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("sites", type=Path)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--record", nargs="+", default=[], metavar="FILE", help="sources whose copies were edited")
    args = parser.parse_args()
    files = {file: list(changes_of(file)) for file in sorted(args.sites.glob("*.txt"))}
    for source in args.record:
        text, copy = (args.sources / source).read_text(), (args.copies / source).read_text()
        changes = recorded(source, text, copy)
        if words([planted(text, changes)]) != words([HEADER, copy.removeprefix(HEADER)]):
            raise Misfit(f"{source}: what was recorded does not make the copy again")
        home = next((f for f, all_changes in files.items() if any(c.source == source for c in all_changes)), None)
        if home is None:
            room = source.rsplit("/", 1)[0]
            home = args.sites / (room.replace("/", ".") + ".txt")
            files.setdefault(home, [])
        files[home] = sorted([c for c in files[home] if c.source != source] + changes, key=lambda c: c.source)
        head = "".join(line for line in home.read_text().splitlines(True) if line.startswith("#")) if home.is_file() else ""
        write(home, head + "\n".join(["", *(c.text() for c in files[home])][0 if head else 1 :]))
    if args.record:
        return
    by_source = {}
    for changes in files.values():
        for c in changes:
            by_source.setdefault(c.source, []).append(c)
    copies, misfits = {}, []
    for source, changes in by_source.items():
        try:
            copies[source] = planted((args.sources / source).read_text(), changes)
        except FileNotFoundError:
            misfits.append(f"{changes[0].where}: there is no {args.sources / source}")
        except Misfit as e:
            misfits.append(str(e))
    if misfits:
        raise Misfit("\n".join(misfits))
    for source, text in copies.items():
        write(args.copies / source, text)
    for path in args.copies.rglob("*"):
        if path.is_file() and str(path.relative_to(args.copies)) not in copies and is_copy(path):
            path.unlink()


if __name__ == "__main__":
    try:
        main()
    except Misfit as e:
        sys.exit(str(e))
