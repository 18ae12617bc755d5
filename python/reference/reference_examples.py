# SPDX-License-Identifier: Apache-2.0
"""Finds an example for each name of d5, in programs that run as tests: pages, examples, tests."""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Programs in the order of preference.
PAGES = ("docs/guide/python.md", "docs/reference/python.md")
FOLDERS = ("examples", "python/tests")
#: Tests of wrong calls, which are no examples.
WRONG = re.compile(r"test_(walk|words|unknown_names|wrong_\w+|bad_\w+|in_place|\w*faults|isolation|interrupts|collected|docstrings|docs|guide|reference)\.py")
MODULES = {"d5": "d5", "d5torch": "d5.torch", "logs": "d5.logs", "op": "d5.op"}
LONGEST, MOST_LINES = 96, 6  # letters of a line, lines


class Example(NamedTuple):
    rank: int  # the rank of its program
    lines: int
    letters: int
    text: str


def of_docstring(made: object) -> str:
    """The indented block of a docstring; empty if there is none."""
    blocks = re.findall(r"(?:^    .*\n?(?:^[ \t]*\n(?=    ))*)+", (inspect.getdoc(made) or "") + "\n", re.M)
    for block in blocks:
        text = textwrap.dedent(block).strip()
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        if "d5" in text and all(len(line) <= LONGEST for line in text.splitlines()):
            return text
    return ""


def of_programs() -> dict[str, str]:
    """By full name, "d5.bench": the shortest statement of the best program that calls it."""
    found: dict[str, Example] = {}
    for rank, text in _programs():
        for name, statement in _calls(text):
            lines = statement.splitlines()
            if len(lines) > MOST_LINES or any(len(line) > LONGEST for line in lines):
                continue
            one = Example(rank, len(lines), len(statement), statement)
            found[name] = min(one, found.get(name, one))
    return {name: example.text for name, example in found.items()}


def _programs() -> Iterator[tuple[int, str]]:
    """Each with its rank."""
    for rank, page in enumerate(PAGES):
        yield rank, "\n".join(blocks(ROOT / page))
    for rank, folder in enumerate(FOLDERS, len(PAGES)):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if not WRONG.fullmatch(file.name):
                yield rank, file.read_text()


def blocks(page: pathlib.Path) -> list[str]:
    """Its fenced blocks in Python."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text() if page.exists() else "", re.M | re.S)


def _calls(text: str) -> Iterator[tuple[str, str]]:
    """Names that are called, each with the source of its statement."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    lines = text.splitlines(keepends=True)
    yield from _within(tree, lines)


def _within(node: ast.AST, lines: list[str]) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda) or _expects_error(child):
            continue
        if isinstance(child, (ast.Assign, ast.Expr)) and isinstance(child.value, ast.Call):
            source = _source(child, lines)
            yield from ((name, source) for name in _called(child.value))
        elif isinstance(child, ast.ClassDef):
            source = _source(child, lines)
            yield from ((name, source) for name in _derived(child))
        elif isinstance(child, ast.Call):
            yield from ((name, _source(child, lines)) for name in _called(child)[:1])
        yield from _within(child, lines)


def _source(node: ast.stmt | ast.expr, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])
    begin = min([node.col_offset, *(one.col_offset - 1 for one in decorators)])
    if isinstance(node, ast.stmt):
        return textwrap.dedent("".join(lines[first - 1 : node.end_lineno])).strip()
    inside = [line.encode() for line in lines[first - 1 : node.end_lineno]]
    inside[-1] = inside[-1][: node.end_col_offset]
    inside[0] = inside[0][begin:]
    return textwrap.dedent(b"".join(inside).decode())


def _name_of(node: ast.expr) -> str:
    """d5.bench, d5torch.module, d5.op.compile as full names; empty for another."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in ("d5", "d5torch") or not words:
        return ""
    return ".".join([MODULES[node.id], *words])


def _called(call: ast.Call) -> list[str]:
    names = [_name_of(one.func) for one in ast.walk(call) if isinstance(one, ast.Call)]
    return [name for name in names if name]


def _derived(made: ast.ClassDef) -> list[str]:
    return [name for name in map(_name_of, made.bases) if name]


def _expects_error(node: ast.AST) -> bool:
    if not isinstance(node, ast.With):
        return False
    return any("raises" in ast.dump(item.context_expr) for item in node.items)
