# SPDX-License-Identifier: Apache-2.0
"""What a pattern can see of the rules for sentences (CONTRIBUTING.md). Four rules:

comment  a comment, or a paragraph of one, begins with its noun or verb
help     a help text, a summary, a `description` in YAML and JSON begins with its noun or verb
word     comments, texts and pages use none of the words in BANNED
long     lines of pages are wrapped at 100 characters

check_house.py prints the findings as the check `words`; each says file, line and rule:

    check_house.py SOURCE_DIR words                     every finding, as file:line: rule: text
    check_house.py SOURCE_DIR words src/core apps       those below some folders, or in some files
    check_house.py SOURCE_DIR words --count [PATHS]     a table: how many a room, by rule
"""

import ast
import dataclasses
import io
import pathlib
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 100
RULES = ("comment", "help", "word", "long")


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str


class Piece(NamedTuple):
    """A comment (or docstring), a text, a help text, a page: where it begins, and its words."""
    line: int
    how: str
    words: str


# A comment that begins so has its noun in the line below, or nowhere.
NOUNLESS = re.compile(r"(?:of|that|where|in which|so many|so much)(?=\s)(?!\s+course\b)", re.I)

# Help texts and summaries. "at most" and "at least" belong to a number.
BEFORE_A_NOUN = re.compile(
    r"(?:about|above|according to|across|after|against|along|although|among|and|around|as|at(?! (?:most|least)\b)|"
    r"because|before|behind|below|beneath|beside|besides|between|beyond|but|by|despite|during|for|from|if|in|"
    r"inside|into|like|nor|of|off|on|onto|or|out of|outside|over|per|since|so|than|that|through|to|toward|"
    r"towards|under|unless|unlike|until|upon|via|when|where|while|with|within|without)\s", re.I)

# Never right in this tree, each with what to write.
BANNED = [(re.compile(pattern), instead) for pattern, instead in (
    (r"\b(?:[Tt]hat|[Ww]hat|which|one|it)(?: there)? (?:is|are|was|were) none\b(?! of\b(?! [;,.])| the worse\b)",
     "say what is wrong with it"),
    (r"\b(?:that|which) there (?:is|are) none of\b|\bof which there (?:is|are) none\b", "an unknown one"),
    (r"\b[Hh]eed(?:s|ed|ing)?\b", "follow, read, use"),
    (r"\b[Rr]eckon(?:s|ed|ing)?\b", "compute, count"),
    (r"\b[Aa]new\b", "again"),
    (r"\b[Ww]ho(?:m)?ever\b", "name the subject"),
    (r"\bsaid to be\b", "name what says so"),
    (r"\b[Ww]hat it takes\b", "cost, needs, input"),
    # People are told, and programs are told to do something; data are given, passed, reported.
    (r"(?<!user )(?<!reader )(?<!caller )(?<!people )(?<!person )(?<!you )(?<!nobody )(?<!somebody )"
     r"\b(?:is|are|was|were|be|been|being|not|none|nothing|once|only|that|what)\s+told\b"
     r"(?! apart\b| to\b| otherwise\b)|\b[Tt]old (?:of|by|at once|as|with|once|about|through|again|twice)\b",
     "given, passed, reported"),
)]

# Functions that take a help text or a summary behind a name, and those that take one first.
NAMED = {"add", "add_option", "add_option_function", "add_flag", "add_flag_callback", "add_flag_function",
         "add_subcommand", "add_numbers", "choose"}
FIRST = {"of", "with", "entry", "either_rule", "description"}

C_LIKE = {".cpp", ".hpp", ".h", ".c", ".cu", ".ts", ".mjs", ".proto"}
# Not ours to write, or what somebody wrote against older versions; the rules themselves.
LEFT_OUT = re.compile(r"tests/house/(?:before/|words(?:_cases)?\.py$)|tests/fuzz/corpus/|web/package-lock")


def tracked(root: pathlib.Path) -> list[str]:
    done = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, text=True)
    if done.returncode == 0 and done.stdout:
        return [name for name in done.stdout.split("\0") if name]
    return sorted(str(p.relative_to(root)) for p in root.rglob("*")  # an archive of the sources
                  if p.is_file() and p.relative_to(root).parts[0] not in ("build", "dist")
                  and "node_modules" not in p.parts)


def room(path: str) -> str:
    """src/core, include/d5/core, tests/core, frameworks/torch; a file at the top is its own."""
    parts = pathlib.PurePosixPath(path).parts
    return "/".join(parts[:3 if parts[0] == "include" else 2][:len(parts) - 1] or parts)


# --- Pieces of a file ---

C_TOKEN = re.compile(
    r'(?P<line>//[^\n]*(?:\\\n[^\n]*)*)|(?P<block>/\*.*?\*/)|R"(?P<mark>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=mark)"|'
    r'"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<char>\'(?:[^\'\\\n]|\\.)+\')|(?P<digits>\b\d[\d\'.a-zA-Z]*)|'
    r'(?P<sign>[()\[\]{},?:])|(?P<name>[A-Za-z_]\w*)|(?P<space>\s+)|(?P<other>.)', re.S)


def inside_comment(text: str) -> str:
    return re.sub(r"^(?://[/!]?<?|/\*[*!]?<?|#+!?)\s?|\s*\*/$", "", text)


class Comment:
    """Lines of one comment: a first one, and those below it in its column that have no code before them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.begin = self.last = self.column = 0

    def add(self, text: str, line: int, before: str) -> Iterator[Piece]:
        """`before` is what the line has before it. Gives out the comment above, if this is another."""
        words, column = inside_comment(text), len(before)
        if before.strip() or line != self.last + 1 or column != self.column or not self.lines:
            yield from self.end()
            self.begin, self.column = line, column
        self.lines.append(words)
        self.last = line + text.count("\n")
        if words.startswith("SPDX"):
            self.lines.clear()

    def end(self) -> Iterator[Piece]:
        if self.lines:
            yield Piece(self.begin, "comment", "\n".join(self.lines))
            self.lines.clear()


def called(text: str, bracket: int) -> str:
    """The function before a bracket: `of` of `Entry::of<Part>(`."""
    end = bracket
    if text[end - 1] == ">" and text[end - 2] != "-":
        depth = 0
        for end in range(bracket - 1, max(0, bracket - 200), -1):
            depth += {">": 1, "<": -1}.get(text[end], 0)
            if depth == 0:
                break
    match = re.search(r"(\w+)$", text[max(0, end - 60):end])
    return match.group(1) if match else ""


@dataclasses.dataclass
class Bracket:
    """One that is open: its sign, the function before it, the number of the argument that is read."""
    sign: str
    callee: str
    index: int = 0


def takes_help(open_ones: list[Bracket]) -> bool:
    """Whether a text here is a help text or a summary: of the innermost call, or of the one around fmt::format or
    std::string."""
    for bracket in reversed(open_ones):
        if bracket.sign != "(":
            return False
        if bracket.callee not in ("format", "string") or bracket.index > 0:
            first = bracket.callee in FIRST or bracket.callee.endswith("Entry")
            return bracket.index == 0 if first else bracket.callee in NAMED and bracket.index >= 1
    return False


def c_pieces(text: str) -> Iterator[Piece]:
    calls: list[Bracket] = []
    comment, line, begin_of_line = Comment(), 1, 0
    words, words_line, how = "", 0, "text"
    before = ["", ""]  # the last tokens
    for match in C_TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind == "space":
            pass
        elif kind in ("line", "block"):
            yield from comment.add(token, line, text[begin_of_line:match.start()])
        elif kind in ("text", "raw", "mark"):
            if not words:
                words_line, how = line, "text"
                if before[1] in ("(", ",", "?", ":") and takes_help(calls) or \
                   before[1] == "=" and re.fullmatch(r"help|summary|k\w*(?:Help|Summary)", before[0]):
                    how = "help"
            words += match.group("text") if kind == "text" else match.group("raw")
        else:
            if words:
                yield Piece(words_line, how, words)
                words = ""
            if token in "([{":
                calls.append(Bracket(token, called(text, match.start()) if token == "(" else ""))
            elif token in ")]}" and calls:
                calls.pop()
            elif token == "," and calls:
                calls[-1].index += 1
            before = [before[1], token]
        if "\n" in token:
            line += token.count("\n")
            begin_of_line = match.start() + token.rindex("\n") + 1
    yield from comment.end()


def python_pieces(text: str) -> Iterator[Piece]:
    comment = Comment()
    try:
        parsed = ast.parse(text)
    except SyntaxError:  # a test's
        return
    nodes = list(ast.walk(parsed))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield from comment.add(token.string, token.start[0], token.line[:token.start[1]])
    yield from comment.end()
    described = {id(node.body[0].value) for node in nodes
                 if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body
                 and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)}
    helps = {id(word.value) for node in nodes if isinstance(node, ast.Call)
             for word in node.keywords if word.arg in ("help", "summary", "description")}
    helps |= {id(node.slice.elts[1]) for node in nodes  # Annotated[float, "help"]
              if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Annotated"
              and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            how = "comment" if id(node) in described else "help" if id(node) in helps else "text"
            yield Piece(node.lineno, how, node.value)


def hash_pieces(text: str) -> Iterator[Piece]:
    """CMake, shell, YAML: comments, and texts in quotes of one line."""
    comment = Comment()
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"""((?:[^#"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|(?<![\s(])#)*)(#.*)$""", line)
        code = line
        if match and not line.startswith("#!") and (not match.group(1) or match.group(1)[-1] in " \t("):
            code = match.group(1)
            yield from comment.add(match.group(2), number, code)
        yield from (Piece(number, "text", words) for words in re.findall(r'"((?:[^"\\]|\\.)*)"', code))
    yield from comment.end()


def described_pieces(text: str) -> Iterator[Piece]:
    """`description` and `summary` of YAML and JSON."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in re.finditer(r'\b(?:description|summary)"?: (?![>|])(?:"((?:[^"\\]|\\.)*)"|([^"{\[][^},]*))', line):
            yield Piece(number, "described", match.group(1) or match.group(2))


def pieces(path: str, text: str) -> Iterator[Piece]:
    suffix = pathlib.PurePosixPath(path).suffix
    first = text.split("\n", 1)[0]
    if suffix in C_LIKE:
        yield from c_pieces(text)
    elif suffix in (".py", ".pyi") or (not suffix and first.startswith("#!") and "python" in first):
        yield from python_pieces(text)
    elif path.endswith("CMakeLists.txt") or suffix in (".cmake", ".sh") or (not suffix and first.startswith("#!")):
        yield from hash_pieces(text)
    elif suffix in (".yaml", ".yml", ".json"):
        if suffix != ".json":
            yield from (piece for piece in hash_pieces(text) if piece.how == "comment")
        yield from described_pieces(text)
        yield Piece(1, "page", text)
    elif suffix == ".md":
        yield Piece(1, "page", text)


# --- Rules ---

def long_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of a page that could be wrapped: no code, no table, no picture; addresses do not count."""
    fenced = indented = False
    above = ""
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"\s*(?:```|~~~)", line):
            fenced = not fenced
        is_item = re.match(r"\s+(?:[-*+]|\d+\.) ", line)
        indented = line.startswith("    ") and (indented or not above.strip()) and not is_item
        above = line
        if fenced or indented or len(line) <= LONGEST or re.match(r"\s*(?:\||<|\[?!\[)", line):
            continue
        if len(re.sub(r"\]\([^)]*\)|<?\bhttps?://[^\s)>]+>?", "]", line)) > LONGEST:
            yield number, f"{len(line)} characters; wrap it at {LONGEST}"


def shown(words: str) -> str:
    return " ".join(words.split())[:70]


def of_file(path: str, text: str) -> Iterator[Finding]:
    is_binding = path.startswith("python/") and path.endswith(".cpp")
    for line, how, words in pieces(path, text):
        if how == "comment" or how == "text" and is_binding and words[:1].isupper():  # a binding's text is a docstring
            for paragraph in re.finditer(r"(?:^|\n[ \t]*\n)[\s*-]*(.+)", words):
                goes_on = paragraph.start() > 0 and paragraph.group(1)[0].islower()  # below a formula
                if NOUNLESS.match(paragraph.group(1)) and not goes_on:
                    yield Finding(path, line + words.count("\n", 0, paragraph.start(1)), "comment",
                                  f"begin with the noun or the verb: {shown(words[paragraph.start(1):])}")
        if how in ("help", "described") and " " in words and BEFORE_A_NOUN.match(words):
            yield Finding(path, line, "help", f"begin with the noun or the verb: {shown(words)}")
        if how == "described" or how == "text" and " " not in words.strip():
            continue
        quoted = re.sub(r"`[^`\n]*`", lambda match: "x" * len(match.group()), words)
        for pattern, instead in BANNED:
            for match in pattern.finditer(quoted):
                yield Finding(path, line + words.count("\n", 0, match.start()), "word",
                              f'not "{shown(match.group())}" ({instead})')
    if path.endswith(".md"):
        yield from (Finding(path, line, "long", message) for line, message in long_lines(text))


def findings(root: pathlib.Path, below: tuple[str, ...] = ()) -> list[Finding]:
    found: list[Finding] = []
    for path in tracked(root):
        if LEFT_OUT.search(path):
            continue
        if below and not any(path == one or path.startswith(one.rstrip("/") + "/") for one in below):
            continue
        try:
            text = (root / path).read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        found += of_file(path, text)
    return sorted(set(found), key=lambda one: (one.path, one.line))


def counted(found: list[Finding]) -> str:
    """A table: a row a room, a column a rule."""
    rows = Counter((room(one.path), one.rule) for one in found)
    names = sorted({name for name, _ in rows})
    width = max([len("room"), *map(len, names)])
    text = [f"{'room':{width}}" + "".join(f" {rule:>8}" for rule in RULES) + f" {'all':>8}"]
    for name in [*names, "all"]:
        of_rule = [sum(n for (one, rule), n in rows.items() if rule == wanted and name in (one, "all"))
                   for wanted in RULES]
        text.append(f"{name:{width}}" + "".join(f" {n:>8}" for n in of_rule) + f" {sum(of_rule):>8}")
    return "\n".join(text)
