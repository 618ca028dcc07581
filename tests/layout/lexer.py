"""Splits sources into tokens: C and C++, Python, shell and CMake. Used by same_tokens.py and
phrases.py."""

import io
import re
import tokenize

# Kinds of tokens: "comment", "string" (with its quotes), "code" (everything else). Whitespace is
# left out.
CPP = re.compile(
    r"""
      (?P<splice> \\\r?\n )
    | (?P<comment> //(?:\\\r?\n|[^\n])* | /\*.*?\*/ )
    | (?P<string> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
                | (?:u8|[uUL])?(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*' )
    | (?P<code> [A-Za-z_]\w*
              | \.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*
              | <=>|->\*|\.\.\.|<<=|>>=|::|\+\+|--|->|\.\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#
              | \S )
    """,
    re.X | re.S,
)


def cpp_tokens(text):
    """Yields (kind, text, line). A directive of the preprocessor ends with the token "\\n", as it
    does in C. A macro has arguments if the parenthesis follows its name without a space: then the
    parenthesis is "()"."""
    line, place, directive, define, first, words = 1, 0, False, False, True, 0
    for match in CPP.finditer(text):
        between = text[place : match.start()]
        ends = "\n" in between
        if ends and directive:
            yield "code", "\n", line
            directive = False
        first = first or ends
        line += between.count("\n")
        place = match.end()
        if match["splice"]:
            line += 1
            continue
        kind = "comment" if match["comment"] else "string" if match["string"] else "code"
        if kind != "comment":
            if first and match[0] == "#":
                directive, words, define = True, 0, False
            first = False
            words += 1
            define = directive and (define or words == 2 and match[0] == "define")
            with_arguments = define and words == 4 and match[0] == "(" and not between
        yield kind, "()" if kind == "code" and with_arguments else match[0], line
        line += match[0].count("\n")
    if directive:
        yield "code", "\n", line


def python_tokens(text):
    """Yields (kind, text, line). A string that is a statement of its own is a comment."""
    statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name == "NL":
            continue
        if name == "COMMENT":
            yield "comment", token.string, token.start[0]
            continue
        if name == "STRING" or name.startswith("FSTRING"):
            yield "comment" if statement and name == "STRING" else "string", token.string, token.start[0]
        else:
            yield "code", name if name in ("NEWLINE", "INDENT", "DEDENT") else token.string, token.start[0]
        statement = name in ("NEWLINE", "INDENT", "DEDENT")


def json_tokens(text):
    """Yields (kind, text, line). The name of a member is code: programs look for it."""
    tokens = list(cpp_tokens(text)) + [("code", "", 0)]
    for (kind, word, line), (_, after, _) in zip(tokens, tokens[1:]):
        yield "code" if after == ":" else kind, word, line


def line_tokens(text):
    """Shell and CMake: yields (kind, line, number). A line is a token. Only a line that begins
    with # is a comment, and not the first one if it names an interpreter, nor one in a
    here-document: less is taken for a comment than is one."""
    ends = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if ends:
            if words == ends[0]:
                ends.pop(0)
            yield "string", line, number
            continue
        if words.startswith("#") and not (number == 1 and words.startswith("#!")):
            yield "comment", words, number
            continue
        ends = re.findall(r"(?<!<)<<-?\s*[\"'\\]?([A-Za-z_]+)", words)
        if words:
            yield "code", words, number


def language(path, first_line=""):
    """The function that yields the tokens of a file with this path, or None."""
    name = path.rsplit("/", 1)[-1].removesuffix(".in")
    if re.search(r"\.(c|cc|cpp|h|hpp|inc|S)$", name):
        return cpp_tokens
    if name.endswith(".py") or re.match(r"#!.*python", first_line):
        return python_tokens
    if name.endswith(".json"):
        return json_tokens
    if re.search(r"\.(sh|bash|cmake|pc|txt|map|machine)$", name) or name == "CMakeLists.txt" or re.match(r"#!.*sh\b", first_line):
        return line_tokens
    return None
