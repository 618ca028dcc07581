#!/usr/bin/env bash
# links.sh SOURCE_DIR
# Prints every violation as "file: what":
#   1. each relative link of a page in Markdown leads to a file or folder of the tree, and its
#      anchor to a heading there
#   2. each page of docs/ that a source, script or message names exists
#   3. docs/README.md, the index, links to every page of docs/, and names every command of scute(1)
#      and of ./dev
#   4. a page of docs/start and docs/guides has at most 1,500 words, of whatever kind, and ends with
#      its limits, as a list
#   5. README.md has at most 1,000 words outside of its code blocks (words with a letter or a digit;
#      those of tables count), and 1,200 in all, as wc -w counts
set -euo pipefail

cd "$1"
python3 -B - <<'PYTHON'
import os, re, subprocess, sys
from pathlib import Path

violations = []
roots = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs", "bench", "sim", "tests", "examples", "fuzz"]
pages = []
for root in map(Path, roots):
    pages += [root] if root.is_file() else sorted(root.rglob("*.md")) if root.is_dir() else []


def prose(page):
    """The page's lines outside of fenced blocks."""
    fence = ""
    for line in page.read_text(encoding="utf-8").split("\n"):
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and (not fence or line.strip() == fence):
            fence = "" if fence else mark[1]
        elif not fence:
            yield line


def anchors(page):
    found, seen = set(), {}
    for line in prose(page):
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        n = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{n}" if n else slug)
    return found


known, linked, links = {}, set(), 0
for page in pages:
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", "\n".join(prose(page)), flags=re.S)
    for target in re.findall(r"\]\(([^()\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        path, _, anchor = target.partition("#")
        to = Path(os.path.normpath(page.parent / path)) if path else page
        if not to.exists():
            violations.append(f"{page}: the link {target} leads nowhere")
            continue
        if page == Path("docs/README.md"):
            linked.add(to)
        if anchor and to.suffix == ".md":
            if to not in known:
                known[to] = anchors(to)
            if anchor not in known[to]:
                violations.append(f"{page}: {to} has no heading for the link {target}")

named = set()
for root in map(Path, ("src", "include", "tools", "sim", "tests", "fuzz", "bench", "examples", "workloads", "cmake", "dev")):
    for file in [root] if root.is_file() else sorted(root.rglob("*")):
        if not file.is_file() or "_planted" in file.name or file.name == "planted.sh" or file.suffix == ".md":
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for name in re.findall(r"\bdocs/[A-Za-z0-9_./-]*\.md\b", text):
            named.add(name)
            if not Path(name).is_file():
                violations.append(f"{file}: names {name}, which does not exist")

index = Path("docs/README.md")
if not index.is_file():
    violations.append("docs/README.md: the index is missing")
else:
    for page in sorted(Path("docs").rglob("*.md")):
        if page != index and page not in linked:
            violations.append(f"docs/README.md: no link to {page}")
    text = index.read_text(encoding="utf-8")
    manual = Path("docs/reference/scute.1.md").read_text(encoding="utf-8")
    commands = set()
    for heading in re.findall(r"^### (scute [a-z].*)$", manual, re.M):
        words = []
        for word in heading.split():
            if not re.fullmatch(r"[a-z]+", word):
                break
            words.append(word)
        commands.add(" ".join(words))
    help_text = subprocess.run(["./dev", "help"], capture_output=True, text=True, check=True).stdout
    section = re.search(r"^Commands\n(.*?)\n\n", help_text, re.M | re.S)
    commands |= {"./dev " + name for name in re.findall(r"^  ([a-z]+)\b", section[1] if section else "", re.M)}
    if len(commands) < 30:
        violations.append(f"docs/README.md: only {len(commands)} commands were found to look for")
    for command in sorted(commands):
        if not re.search(r"`" + re.escape(command) + r"[` ]", text):
            violations.append(f"docs/README.md: does not name `{command}`")

for folder in ("start", "guides"):
    for page in sorted(Path("docs", folder).glob("*.md")):
        text = page.read_text(encoding="utf-8")
        words = len(text.split())
        if words > 1500:
            violations.append(f"{page}: has {words} words; 1500 are enough")
        if not re.search(r"\n## Limits\n\n(?:(?:- |  ).*\n)+\Z", text):
            violations.append(f"{page}: does not end with a list under ## Limits")

page = Path("README.md")
if page.is_file():
    words = sum(1 for line in prose(page) for word in line.split() if re.search(r"[A-Za-z0-9]", word))
    if words > 1000:
        violations.append(f"{page}: has {words} words outside of code blocks; 1000 are enough")
    words = len(page.read_text(encoding="utf-8").split())
    if words > 1200:
        violations.append(f"{page}: has {words} words; 1200 are enough")

if violations:
    print("\n".join(sorted(set(violations))))
    sys.exit(1)
print(f"links: {links} of {len(pages)} pages lead somewhere; {len(named)} pages are named in sources")
PYTHON
