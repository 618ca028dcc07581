#!/usr/bin/env python3
"""Draws the diagrams of the documentation as SVG, light and dark by prefers-color-scheme.

  draw.py [FOLDER]         writes the files (default: the folder of this script)
  draw.py --dark FOLDER    the dark look alone, for programs that draw SVG without media queries

No dependencies. tests/layout/diagrams.sh compares the committed files with what this makes.
"""

import sys
from pathlib import Path
from xml.sax.saxutils import escape

LIGHT = {
    "paper": "#ffffff", "ink": "#1f2328", "dim": "#59636e", "grid": "#d1d9e0", "plain": "#f6f8fa",
    "data": "#dbeafe", "data-edge": "#2563eb", "parity": "#fdecc8", "parity-edge": "#b45309",
    "lost": "#fee2e2", "lost-edge": "#dc2626", "good": "#d8f5e3", "good-edge": "#15803d",
    "log": "#ede9fe", "log-edge": "#6d28d9",
}
DARK = {
    "paper": "#0d1117", "ink": "#e6edf3", "dim": "#9198a1", "grid": "#3d444d", "plain": "#161b22",
    "data": "#12305c", "data-edge": "#58a6ff", "parity": "#4a3206", "parity-edge": "#e3b341",
    "lost": "#571c20", "lost-edge": "#f85149", "good": "#0f3d27", "good-edge": "#3fb950",
    "log": "#2e2157", "log-edge": "#a98bf5",
}
KINDS = ("data", "parity", "lost", "good", "log")


def rules(colors):
    lines = [f".paper{{fill:{colors['paper']}}}", f"text{{fill:{colors['ink']}}}", f".dim{{fill:{colors['dim']}}}",
             f".line{{stroke:{colors['ink']};fill:none}}", f".head{{fill:{colors['ink']}}}",
             f".faint{{stroke:{colors['grid']};fill:none}}", f".plain{{fill:{colors['plain']};stroke:{colors['grid']}}}"]
    for kind in KINDS:
        lines.append(f".{kind}{{fill:{colors[kind]};stroke:{colors[kind + '-edge']}}}")
        lines.append(f".{kind}-edge{{stroke:{colors[kind + '-edge']};fill:none}}")
        lines.append(f".{kind}-text{{fill:{colors[kind + '-edge']}}}")
    return "".join(lines)


class Picture:
    def __init__(self, width, height, title, description):
        self.width, self.height, self.title, self.description = width, height, title, description
        self.parts = []

    def box(self, x, y, w, h, kind="plain", text="", size=13, bold=False):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3" class="{kind}"/>')
        lines = text.split("\n") if text else []
        for i, line in enumerate(lines):
            self.text(x + w / 2, y + h / 2 + size * 0.35 + (i - (len(lines) - 1) / 2) * (size + 3), line, size, "middle",
                      bold=bold)

    def text(self, x, y, text, size=13, anchor="start", kind="", bold=False):
        more = f' class="{kind}"' if kind else ""
        more += ' font-weight="600"' if bold else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{more}>{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, kind="line", dashed=False, width=1.5):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{kind}" stroke-width="{width:g}"{dash}/>')

    def arrow(self, x1, y1, x2, y2):
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 9 * ux, y2 - 9 * uy
        self.line(x1, y1, bx, by)
        self.parts.append(f'<path d="M{x2:g} {y2:g}L{bx - 4.5 * uy:g} {by + 4.5 * ux:g}'
                          f'L{bx + 4.5 * uy:g} {by - 4.5 * ux:g}Z" class="head"/>')

    def frame(self, x, y, w, h, kind):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="5" class="{kind}-edge" stroke-width="2.5"/>')

    def svg(self, dark_only):
        style = rules(DARK) if dark_only else rules(LIGHT) + "@media (prefers-color-scheme:dark){" + rules(DARK) + "}"
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" role="img" font-family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif">\n'
                f"<title>{escape(self.title)}</title>\n<desc>{escape(self.description)}</desc>\n<style>{style}</style>\n"
                f'<rect width="{self.width}" height="{self.height}" rx="6" class="paper"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def rows_of(p, x, y, columns, marked, lost=None, height=30, step=36, width=62):
    """Four data rows and one of parity, with one column framed. Returns the y of each row."""
    names = ["row 0", "row 1", "…", "row N−1", "parity"]
    tops = []
    for r, name in enumerate(names):
        top = y + r * step + (8 if name == "parity" else 0)
        tops.append(top)
        p.text(x - 12, top + height / 2 + 4.5, name, 13, "end", bold=name == "parity")
        for c in range(columns):
            kind = "parity" if name == "parity" else "data"
            if lost == (r, c):
                kind = "lost"
            p.box(x + c * width, top, width - 6, height, kind)
    p.frame(x + marked * width - 5, y - 6, width + 4, tops[-1] + height - y + 12, "log")
    return tops


def pool():
    p = Picture(860, 372, "A pool", "The parts of a pool file, the rows of a zone, its parity row, and one column")
    p.text(24, 34, "A pool is one file", 16, bold=True)
    x, y, h = 24, 50, 40
    for w, kind, text in ((104, "plain", "superblock"), (104, "plain", "superblock"), (120, "log", "lanes (logs)"),
                          (120, "log", "second copy"), (246, "data", "zone: objects and parity"), (112, "plain", "superblock")):
        p.box(x, y, w, h, kind, text)
        x += w + 1
    left, top = 130, 150
    p.line(474, 92, 130, 134, "faint", True)
    p.line(718, 92, 682, 142, "faint", True)
    tops = rows_of(p, left, top, 9, 5)
    p.text(left + 5 * 62 + 28, 137, "one column", 13, "middle", "log-text", True)
    side = left + 9 * 62 + 8
    p.text(side, top + 13, "Chunks lie in the", 13, kind="dim")
    p.text(side, top + 30, "data rows, in order.", 13, kind="dim")
    p.text(side, top + 60, "Each object has", 13, kind="dim")
    p.text(side, top + 77, "a checksum for", 13, kind="dim")
    p.text(side, top + 94, "every 4 KiB.", 13, kind="dim")
    p.text(side, tops[-1] + 20, "XOR of the rows", 13, kind="dim")
    p.text(24, 362, "If a cell is damaged, the others of its column give it back. P rows of parity give back any P cells.", 13)
    return p


def commits():
    p = Picture(860, 460, "One commit of each engine", "What each engine writes during a commit, and where its fences are")
    p.text(24, 32, "One commit of each engine, on a time line", 16, bold=True)
    p.text(836, 32, "time →", 13, "end", "dim")

    def fence(x, y, text, kind):
        p.line(x, y - 8, x, y + 56, f"{kind}-edge", width=3)
        p.text(x, y + 78, text, 12, "middle", f"{kind}-text", True)

    def engine(y, name, note, parts):
        p.text(24, y + 20, name, 15, bold=True)
        p.text(24, y + 40, note, 12, kind="dim")
        p.line(150, y + 62, 836, y + 62, "faint")
        x = 154
        for part in parts:
            if part[0] == "fence":
                fence(x + 12, y, part[1], part[2])
                x += 26
            else:
                _, w, kind, text = part
                p.box(x, y, w, 48, kind, text, 12)
                x += w + 4

    engine(62, "redo", "log first", (
        ("box", 190, "log", "log entry, all new bytes,\nto both copies of the lane"), ("fence", "decided", "good"),
        ("box", 130, "data", "new bytes\nto their places"), ("box", 110, "parity", "parity"), ("fence", "applied", "data"),
        ("box", 146, "plain", "note in the lane,\nnot flushed")))
    engine(186, "logfree", "in place", (
        ("box", 150, "plain", "lock the columns;\nheaders form a ring"), ("box", 150, "data", "new bytes and headers\nto their places"),
        ("fence", "decided", "good"), ("box", 130, "parity", "parity,\nwritten back"),
        ("box", 130, "plain", "… next commit of\nthis lane, or a drain"), ("fence", "parity durable", "data")))
    engine(310, "spec", "log now, data later", (
        ("box", 190, "log", "record of all new bytes\nto a sequential log"), ("fence", "decided", "good"),
        ("box", 158, "data", "data and parity in the\ncache, not flushed"), ("box", 128, "plain", "… many commits …"),
        ("box", 110, "data", "checkpoint:\nwrites blocks"), ("fence", "log is free", "data")))
    p.line(29, 410, 29, 430, "good-edge", width=3)
    p.line(37, 410, 37, 430, "data-edge", width=3)
    p.text(48, 425, "Upright bars are fences: what is written to the left of a bar is durable before anything to its right begins.", 13)
    p.text(24, 450, "A crash before “decided” leaves nothing of the transaction; after it, recovery completes the transaction.", 13)
    return p


def store():
    p = Picture(860, 356, "A store", "A store's file, and what a section writes to it")
    p.text(24, 32, "A store: structures in memory, a log of objects in a file", 16, bold=True)
    p.box(24, 52, 320, 104, "plain")
    p.text(36, 72, "memory of the program", 12, kind="dim")
    for i, (name, kind) in enumerate((("ann", "good"), ("bob", "good"), ("cid", "data"), ("dan", "data"))):
        p.box(40 + i * 74, 90, 64, 44, kind, name)
    p.text(360, 86, "A section has changed ann and bob.", 13)
    p.text(360, 106, "Its commit appends both, whole, as one frame,", 13)
    p.text(360, 126, "and one fence, or one sync, makes them durable.", 13)
    p.text(360, 146, "Reads touch memory only.", 13)
    p.text(24, 196, "file", 12, kind="dim")
    x, y = 24, 206
    p.box(x, y, 126, 52, "plain", "three copies\nof the head", 12)
    p.box(156, y, 256, 52, "data", "segment")
    p.box(418, y, 256, 52, "data")
    p.box(680, y, 156, 52, "plain", "free segments", 12)
    p.box(424, y + 6, 78, 40, "plain", "older frames", 11)
    p.box(506, y + 6, 112, 40, "good", "ann | bob", 13, True)
    p.text(646, y + 31, "…", 14, "middle")
    p.arrow(108, 160, 500, 208)
    p.line(562, 252, 562, 274, "good-edge", width=2.5)
    p.text(562, 290, "frame: counts as a whole, by its checksum", 12, "middle", "good-text", True)
    p.text(156, 278, "older versions of ann and bob", 12, kind="dim")
    p.text(156, 294, "are dead now", 12, kind="dim")
    p.text(24, 322, "The cleaner copies what still counts out of segments with little left, and makes them free.", 13)
    p.text(24, 342, "Protection always: eight tracks of each segment and a ninth with their XOR. One page of the nine may be lost.", 13)
    return p


def shield():
    p = Picture(860, 374, "The shield", "The view of a shielded program, and how a commit set reaches its file")
    p.text(24, 32, "The shield: a view in memory, commit sets written to the file", 16, bold=True)
    p.box(24, 52, 178, 130, "plain")
    p.text(113, 76, "the program", 14, "middle", bold=True)
    p.text(113, 104, "mmap, stores,", 13, "middle")
    p.text(113, 124, "flushes, fences,", 13, "middle")
    p.text(113, 144, "msync, fsync", 13, "middle")
    p.text(113, 170, "unchanged", 12, "middle", "dim")
    p.box(290, 52, 256, 130, "data")
    p.text(418, 74, "the view", 14, "middle", bold=True)
    lines = ["plain", "good", "plain", "good", "good", "plain", "lost", "plain"]
    for i, kind in enumerate(lines):
        p.box(304 + i * 29, 90, 25, 30, kind)
    p.text(418, 142, "green: flushed, in the next commit set", 12, "middle", "good-text")
    p.text(418, 162, "red: stored, not flushed yet", 12, "middle", "lost-text")
    p.box(634, 52, 202, 130, "plain")
    p.text(735, 76, "scute shield run", 14, "middle", bold=True)
    p.text(735, 102, "holds the view too,", 13, "middle")
    p.text(735, 122, "and brings it to the file", 13, "middle")
    p.text(735, 142, "when the program has", 13, "middle")
    p.text(735, 162, "been killed", 13, "middle")
    p.arrow(204, 117, 288, 117)
    p.text(246, 108, "store", 12, "middle", "dim")
    p.arrow(632, 117, 548, 117)
    p.arrow(418, 184, 418, 232)
    p.text(432, 204, "fence: the flushed lines are one commit set,", 13)
    p.text(432, 222, "committed as a whole before the fence returns", 13)
    p.box(24, 236, 396, 62, "good")
    p.text(222, 262, "FILE", 14, "middle", bold=True)
    p.text(222, 284, "its own bytes, in their own places", 12, "middle")
    p.box(440, 236, 396, 62, "parity")
    p.text(638, 262, "FILE.scute", 14, "middle", bold=True)
    p.text(638, 284, "a checksum for every 4096 bytes, parity, logs, events", 12, "middle")
    p.text(24, 328, "At every moment FILE holds a state that a power failure could have left without the shield.", 13)
    p.text(24, 350, "Bytes are verified, and repaired if need be, before the program sees them.", 13)
    return p


def repair():
    p = Picture(860, 384, "How a lost page is rebuilt", "A page that cannot be read is rebuilt from the other pages of its column")
    p.text(24, 32, "How a lost page is rebuilt", 16, bold=True)
    left, top = 96, 66
    tops = rows_of(p, left, top, 5, 2, lost=(1, 2))
    middle = left + 2 * 62 + 28
    p.text(middle, tops[1] + 19, "lost", 13, "middle", "lost-text", True)
    steps = (("1", "A thread touches the page: SIGBUS."),
             ("2", "Its handler locks that one block of columns."),
             ("3", "It notes the repair in the pool, in case of a crash."),
             ("4", "XOR of the other rows and the parity is the page."),
             ("5", "Checksums of the objects on it must agree."),
             ("6", "The page is written back. The access continues."))
    for i, (number, text) in enumerate(steps):
        y = 66 + i * 33
        p.box(450, y, 26, 24, "log", number, 13, True)
        p.text(488, y + 17, text, 14)
    y = 296
    p.text(96, y - 10, "row 0 to row N−1, without row 1, and the parity:", 12, kind="dim")
    for i, (kind, name) in enumerate((("data", "row 0"), ("data", "…"), ("data", "row N−1"), ("parity", "parity"))):
        x = 96 + i * 108
        p.box(x, y, 82, 32, kind, name)
        p.text(x + 95, y + 21, "⊕" if i < 3 else "=", 18, "middle")
    p.box(528, y, 82, 32, "good", "row 1", bold=True)
    p.text(24, 356, "Other blocks of columns stay free for transactions, and two pages may be repaired at once.", 13)
    p.text(24, 375, "If the checksums disagree, too much is lost: an error names the objects, and the rest stays usable.", 13)
    return p


PICTURES = {"pool": pool, "commits": commits, "store": store, "shield": shield, "repair": repair}


def main(arguments):
    dark = "--dark" in arguments
    rest = [a for a in arguments if a != "--dark"]
    if len(rest) > 1 or any(a.startswith("-") for a in rest) or (dark and not rest):
        sys.exit(__doc__)
    folder = Path(rest[0]) if rest else Path(__file__).parent
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().svg(dark), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
