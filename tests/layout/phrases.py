#!/usr/bin/env python3
"""phrases.py [--list FOLDER] [--lower] SOURCE_DIR

Holds the sentences of comments, messages and pages to the phrase book of CONTRIBUTING.md. Per group
of folders it counts
  phrases    matches of tests/layout/phrases.txt in comments, string literals, scripts and pages,
             except those that phrases_allowed.txt excuses
  columns    lines with a comment that ends after column 100
  sentences  sentences of more than 25 words, in public headers and in pages of docs/ and of the root
and fails where a count is above that of tests/layout/phrases_counts.txt. Where a count is below, it
says so. --lower writes today's counts where they are lower. --list prints each place of a group, as
"file:line: what".
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from lexer import language, line_tokens  # noqa: E402

COLUMNS_MAX = 100
WORDS_MAX = 25
# Each file belongs to the first group that has a prefix of its path.
GROUPS = {
    "include": ["include/"],
    "src": ["src/"],
    "tools": ["tools/"],
    "tests": ["tests/"],
    "pages": ["README.md", "docs/start/", "docs/guides/", "docs/reference/"],
    "internals": ["docs/", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
    "others": ["bench/", "sim/", "fuzz/", "examples/", "workloads/", "cmake/", "CMakeLists.txt", "CMakePresets.json", ".ci/", "dev"],
}
KINDS = ("phrases", "columns", "sentences")
# The phrase book names the phrases itself; the places of planted bugs are pieces of sources.
UNREAD = re.compile(r"^tests/(layout/phrases|planted/sites/)")


def group_of(path):
    for group, prefixes in GROUPS.items():
        if any(path == p or p.endswith("/") and path.startswith(p) for p in prefixes):
            return group
    raise ValueError(path)


class Paragraph:
    """Lines of text that belong together, joined by spaces, with the place of each line."""

    def __init__(self):
        self.text, self.starts = "", []

    def add(self, line, words):
        self.text += " " if self.text else ""
        self.starts.append((len(self.text), line))
        self.text += words

    def line(self, place):
        return [line for start, line in self.starts if start <= place][-1]


STARTS = re.compile(r"[-*] |\d+[.)] |[A-Z][A-Z_]*-\d+ |[@\\]\w+ |-{3,}|={3,}")


def paragraphs(lines):
    """lines: (number, words, begins). Divides them where a line begins something new, is empty, or
    does not follow."""
    current, last = Paragraph(), None
    for number, words, begins in lines:
        if begins or not words or last is None or number > last + 1 or STARTS.match(words):
            if current.text:
                yield current
            current = Paragraph()
        if words:
            current.add(number, words)
        last = number
    if current.text:
        yield current


def comment_lines(text, first):
    """The words of each line of a comment; lines that are indented by 4 more are examples of code."""
    text = re.sub(r"^(//[/!]?<?|/\*+[<!]?|#+!?|\"\"\"|''')|(\*/|\"\"\"|''')$", "", text.rstrip())
    for i, line in enumerate(text.split("\n")):
        line = line if i == 0 else re.sub(r"^\s*(\*(?!\*)|//+|#)? ?", "", line) if line.strip() else ""
        yield first + i, line.rstrip()


def code_paragraphs(lex, text):
    """(paragraph, whether it is a comment) of a source."""
    comments, strings, code_line, string_line, last_column, open_line = [], [], 0, 0, -1, 0
    source = text.split("\n")
    for kind, word, line in lex(text):
        if kind == "comment":
            column = source[line - 1].find(word.split("\n")[0])
            moved, last_column = column != last_column, column
            for number, words in comment_lines(word, line):
                begins = number == line and (moved or line == code_line) or "   " in words.strip()
                # A line of an example is indented, and does not follow one of text.
                example = words.startswith("   ") and open_line != number - 1 and not STARTS.match(words.strip())
                open_line = number if words.strip() and not example else 0
                comments.append((number, words.strip(), begins or example))
            continue
        code_line = line + word.count("\n")
        if kind == "string" or lex is line_tokens:
            word = word if lex is line_tokens else re.sub(r"^\w*[\"']+|[\"']+$", "", word)
            for i, words in enumerate(word.replace("\\n", " ").split("\n")):
                strings.append((line + i, words.strip(), i == 0 and line > string_line + 1))
            string_line = code_line
    for found in paragraphs(comments):
        yield found, True
    for found in paragraphs(strings):
        yield found, False


def page_paragraphs(text):
    lines, fence = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
            lines.append((number, "", True))
        elif fence or line.startswith("    ") and not re.match(r"\s*([-*]|\d+\.) ", line) and lines and not lines[-1][1]:
            lines.append((number, "", True))
        elif line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                lines.append((number, cell.strip(), True))
        else:
            words = re.sub(r"\]\([^)]*\)", "]", line.strip())
            lines.append((number, words, bool(re.match(r"#|: |\s*([-*]|\d+\.) |\*\*", line)) or line.endswith("  ")))
    return paragraphs(lines)


def long_sentences(paragraph):
    text = re.sub(r"`[^`]*`", "code", paragraph.text)
    text = re.sub(r"\b(e\.g|i\.e|vs|etc|Dr|No)\.", r"\1", text)
    text = re.sub(r"\(([^()]*)\)", lambda m: m[0] if len(m[1].split()) > 3 else "", text)
    for sentence in re.split(r"(?<=[.!?:])[)\"*_]*\s+", text):
        words = [w for w in sentence.split() if re.search(r"[A-Za-z0-9]", w)]
        if len(words) > WORDS_MAX:
            yield sentence, len(words)


def in_path(text, match):
    """Whether the match is a part of a path or a name, as in mend/header.hpp or in a-b."""
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return before in ("/", "-", "$", "{") or after == "/" or re.match(r"-\w", text[match.end() :]) is not None \
        or re.match(r"\.(hpp|h|cpp|c|txt|md|py|sh)\b", text[match.end() :]) is not None


class Phrases:
    def __init__(self, root):
        self.phrases = self.read(root / "phrases.txt", 2)
        self.allowed = self.read(root / "phrases_allowed.txt", 3)
        self.used = set()

    @staticmethod
    def read(path, fields):
        entries = []
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line and not line.startswith("#"):
                entry = re.split(r"\s{2,}", line.strip())
                if len(entry) != fields:
                    sys.exit(f"{path.name}:{number}: {fields} fields, divided by two spaces, are expected")
                entries.append(entry)
        return entries

    def find(self, path, paragraph):
        for phrase, instead in self.phrases:
            for match in re.finditer(phrase, paragraph.text, re.I):
                if in_path(paragraph.text, match) or self.excused(path, paragraph.text, match):
                    continue
                yield paragraph.line(match.start()), f'"{match[0].strip()}": {instead}'

    def excused(self, path, text, match):
        for place, (where, good, _) in enumerate(self.allowed):
            if re.search(where, path) and any(
                m.start() <= match.start() and match.end() <= m.end() for m in re.finditer(good, text, re.I)
            ):
                self.used.add(place)
                return True
        return False


def examine(path, text, phrases, group):
    """Yields (kind, line, what) of one file."""
    page = path.endswith(".md")
    lex = language(path, text.split("\n", 1)[0])
    if page:
        found = [(p, True) for p in page_paragraphs(text)]
    elif lex:
        found = list(code_paragraphs(lex, text))
        lines = text.split("\n")
        for number in sorted({n for kind, word, line in lex(text) if kind == "comment"
                              for n in range(line, line + word.count("\n") + 1)}):
            if len(lines[number - 1]) > COLUMNS_MAX:
                yield "columns", number, f"{len(lines[number - 1])} columns"
    else:
        return
    for paragraph, prose in found:
        for line, what in phrases.find(path, paragraph):
            yield "phrases", line, what
        if group in ("include", "pages", "internals") and prose:
            for sentence, words in long_sentences(paragraph):
                yield "sentences", paragraph.line(max(0, paragraph.text.find(sentence[:20]))), f"{words} words: {sentence}"


def files(root):
    found = set()
    for prefix in (root / p for prefixes in GROUPS.values() for p in prefixes):
        found.update([prefix] if prefix.is_file() else (p for p in prefix.rglob("*") if p.is_file()))
    return sorted(str(path.relative_to(root)) for path in found)


def main(arguments):
    listed = arguments[arguments.index("--list") + 1] if "--list" in arguments else None
    root = Path([a for a in arguments if a not in ("--list", "--lower", listed)][0])
    layout = root / "tests/layout"
    phrases = Phrases(layout)
    counts = {group: dict.fromkeys(KINDS, 0) for group in GROUPS}
    for path in files(root):
        group = group_of(path)
        if UNREAD.search(path):
            continue
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for kind, line, what in examine(path, text, phrases, group):
            counts[group][kind] += 1
            if listed == group:
                print(f"{path}:{line}: {kind}: {what}")
    return ratchet(layout / "phrases_counts.txt", counts, phrases, "--lower" in arguments)


def ratchet(path, counts, phrases, lower):
    failed = False
    for place, entry in enumerate(phrases.allowed):
        if place not in phrases.used:
            print(f"tests/layout/phrases_allowed.txt: nothing needs the entry {'  '.join(entry)}")
            failed = True
    lines, bounds = path.read_text(encoding="utf-8").split("\n"), {}
    for number, line in enumerate(lines):
        if line and not line.startswith("#"):
            group, *numbers = line.split()
            bounds[group] = (number, list(map(int, numbers)))
    for group, found in counts.items():
        if group not in bounds:
            print(f"{path.name}: no line for {group}")
            failed = True
            continue
        number, bound = bounds[group]
        for kind, limit in zip(KINDS, bound):
            if found[kind] > limit:
                print(f"{group}: {found[kind]} {kind}, {limit} are allowed; see them with: phrases.py --list {group} .")
                failed = True
            elif found[kind] < limit and not lower:
                print(f"{group}: {found[kind]} {kind}, fewer than the {limit} allowed; lower that with: phrases.py --lower .")
        lines[number] = f"{group:<10}" + "".join(
            f"{min(found[kind], limit):>{len(kind) + 2}}" for kind, limit in zip(KINDS, bound))
    if lower and not failed:
        path.write_text("\n".join(lines), encoding="utf-8")
    if not failed:
        print("phrases: no count has grown")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
