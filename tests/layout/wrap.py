#!/usr/bin/env python3
"""wrap.py FILE...

Wraps comments that end after column 100, in C, C++, Python, shell and CMake. A paragraph is
wrapped as a whole, with the indentation that its second line has. A comment next to code that
does not fit there becomes lines above that code. Tables and pictures (three spaces within a
line) stay as they are, and are named. Run clang-format and same_tokens.py afterwards.
"""

import re
import sys
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
from lexer import language  # noqa: E402

WIDTH = 100
MARK = re.compile(r"((?:[-*]|\d+[.)]|[A-Z][A-Z_]*-\d+:?|\([a-z0-9]\)|[@\\]\w+)\s+)(?=\S)")
LINE_COMMENT = re.compile(r"(\s*)(///?<?|//!<?|#+)(\s*)(.*)$")


def comments_of(path, text):
    """[(first line, last line, column, text)] of the comments, by number from 0."""
    lex = None if "\0" in text else language(str(path), text.split("\n", 1)[0])
    lines, found = text.split("\n"), []
    for kind, word, number in lex(text) if lex else ():
        if kind == "comment" and not word.startswith(('"', "'", "r\"")):
            column = lines[number - 1].find(word.split("\n")[0].strip())
            found.append((number - 1, number - 1 + word.count("\n"), column, word))
    return found


def wrapped(words, first, hanging, end=""):
    """The lines of a paragraph. `end` closes a block comment and must fit as well."""
    # A line that began with the name of a rule would define it (rules.sh).
    words = re.sub(r"(?<=\S) (?=[A-Z]{2,8}-\d)", "\2", words) + ("\2" + end if end else "")
    lines = textwrap.wrap(words, WIDTH, initial_indent=first, subsequent_indent=hanging, break_long_words=False,
                          break_on_hyphens=False)
    return [line.replace("\2", " ") for line in lines]


def ends_early(words, following):
    """Whether a line is a paragraph of its own, as a title is: much shorter than its place."""
    return words.startswith("SPDX-") or len(words) <= 60 and (following[:1].isupper() and not words.endswith(",")
                                 or words.split()[-1].strip("[]").isupper())


def wrap_block(body, prefixes, touched, end):
    """body: [(inner indentation, words)]; prefixes: of each line. Returns the new lines and
    those left alone."""
    result, left, i = [], [], 0
    while i < len(body):
        indent, words = body[i]
        if not words:
            result.append(prefixes[i].rstrip())
            i += 1
            continue
        if re.search(r"-{8,}$", words):
            ruler = prefixes[i] + " " * indent + words
            result.append(ruler[: WIDTH - len(" " + end if i + 1 == len(body) and end else "")].rstrip()
                          + (" " + end if i + 1 == len(body) and end else ""))
            i += 1
            continue
        mark = MARK.match(words)
        j = i + 1
        hanging = body[j][0] if j < len(body) and body[j][1] and not MARK.match(body[j][1]) else None
        if hanging is not None and not touched and ends_early(words, body[j][1]):
            hanging = None
        if hanging is not None and (hanging < indent or not mark and hanging != indent and not (i == 0 and prefixes[0] != prefixes[-1])):
            hanging = None
        if hanging is not None:
            while j < len(body) and body[j][1] and body[j][0] == hanging and not MARK.match(body[j][1]) \
                    and (touched or not ends_early(body[j - 1][1], body[j][1])):
                j += 1
        else:
            hanging = indent + (len(mark[1]) if mark else 0)
        closing = end if j == len(body) else ""
        originals = [prefixes[k] + " " * body[k][0] + body[k][1] for k in range(i, j)]
        originals[-1] += " " + closing if closing else ""
        long = any(len(line) > WIDTH for line in originals)
        rest = [words[len(mark[1]) :] if mark else words] + [w for _, w in body[i + 1 : j]]
        if (long or any(k in touched for k in range(i, j))) and any("   " in w.strip() for w in rest):
            left.append(i)
            result += originals
        elif long or any(k in touched for k in range(i, j)):
            start = prefixes[i] + " " * indent + (mark[1] if mark else "")
            later = prefixes[min(i + 1, len(prefixes) - 1)] if len(prefixes) > 1 else prefixes[0]
            later = later if i + 1 < len(prefixes) else re.sub(r"/\*+", lambda m: " *", prefixes[i]) if "/*" in prefixes[i] else prefixes[i]
            result += wrapped(" ".join(w.strip() for w in rest), start, later + " " * hanging, closing)
        else:
            result += originals
        i = j
    return result, left


def wrap(path, text, touched=frozenset()):
    """The text with wrapped comments, and the numbers (from 0) of lines that are too long still.
    touched: lines whose paragraphs are wrapped in any case."""
    lines, out, left, done = text.split("\n"), [], [], 0
    comments, c = comments_of(path, text), 0
    while c < len(comments):
        first, last, column, word = comments[c]
        code = lines[first][:column].rstrip()
        run = [c]
        line_style = not word.startswith("/*")
        if line_style:
            kind = LINE_COMMENT.match(lines[first][column:])[2]
            while run[-1] + 1 < len(comments):
                n_first, n_last, n_column, n_word = comments[run[-1] + 1]
                if n_first != comments[run[-1]][1] + 1 or n_column != column or lines[n_first][:n_column].strip() \
                        or n_word.startswith("/*") or LINE_COMMENT.match(lines[n_first][n_column:])[2] != kind:
                    break
                run.append(run[-1] + 1)
        last = comments[run[-1]][1]
        c = run[-1] + 1
        span = range(first, last + 1)
        if first < done or not any(len(lines[n]) > WIDTH or n in touched for n in span):
            continue
        if lines[last][len(lines[last].rstrip()) - 2 :] != "*/" and not line_style:
            continue  # code follows
        end = "" if line_style else "*/"
        raw = [lines[first][column:]] + lines[first + 1 : last + 1]
        if code:
            parts = [re.sub(r"^\s*(//[/!]?<?|/\*+[!]?<?|\*(?!/)|#)?\s*|\s*(\*/)?\s*$", "", line) for line in raw]
            words = " ".join(p for p in parts if p)
            opening = re.match(r"//[/!]?<?|/\*+|#", raw[0])[0]
            one = f"{lines[first][:column]}{opening} {words}{' */' if end else ''}"
            if len(one) <= WIDTH:
                new = [one]
            else:
                at = first
                while at > done and lines[at - 1].strip() and not re.search(r"([{};,:]|\*/|\\)\s*$|^\s*(//|#|\*)", lines[at - 1]) \
                        and "//" not in lines[at - 1]:
                    at -= 1
                if lines[at - 1].rstrip().endswith("\\") or code.endswith("\\") or code.lstrip().startswith(("#", "}")):
                    left.append(first)
                    continue
                indent = re.match(r"\s*", lines[at])[0]
                opening = opening.rstrip("<")
                later = indent + (" * " if end else opening + " ")
                above = wrapped(words, f"{indent}{opening} ", later, end)
                out += lines[done:at] + above + lines[at:first] + [code]
                done = last + 1
                continue
        elif line_style:
            parsed = [LINE_COMMENT.match(line) for line in [lines[n] for n in span]]
            body = [(len(m[3]), m[4].rstrip()) for m in parsed]
            new, bad = wrap_block(body, [m[1] + m[2] for m in parsed], {n - first for n in span if n in touched}, "")
            left += [first + b for b in bad]
        else:
            indent = lines[first][:column]
            body, prefixes = [], []
            for k, line in enumerate(raw):
                if k == len(raw) - 1:
                    line = re.sub(r"\s*\*/\s*$", "", line)
                opening = re.match(r"/\*+" if k == 0 else r"\s*\*(?!\*)|", line)[0]
                prefix = indent + opening if k == 0 else opening if opening else indent + "  "
                rest = line[len(opening) :] if opening or k == 0 else line[len(indent) + 2 :]
                body.append((len(rest) - len(rest.lstrip()) if rest.strip() else 0, rest.strip()))
                prefixes.append(prefix)
            alone = body[-1][1] == "" and len(body) > 1
            new, bad = wrap_block(body[:-1] if alone else body, prefixes[:-1] if alone else prefixes,
                                  {n - first for n in span if n in touched}, "" if alone else end)
            new += [lines[last]] if alone else []
            left += [first + b for b in bad]
        out += lines[done:first] + new
        done = last + 1
    return "\n".join(out + lines[done:]), left


def main(paths):
    if not paths or any(p.startswith("-") for p in paths):
        print(__doc__.strip())
        return 2
    for path in map(Path, paths):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        new, left = wrap(path, text)
        for number in left:
            print(f"{path}:{number + 1}: left as it is")
        if new != text:
            path.write_bytes(new.encode("utf-8", "surrogateescape"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
