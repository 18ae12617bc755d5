# SPDX-License-Identifier: Apache-2.0
"""Finds an example for each name of d5, in programs that run as tests: pages, examples, tests."""

from __future__ import annotations

import ast
import builtins
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


#: Names that a reader has: `import d5`, `import numpy as np`, ...
GIVEN = {*dir(builtins), "d5", "np", "torch", "d5torch", "__file__"}


class Example(NamedTuple):
    lacks: bool  # whether it reads names that it does not make
    rank: int  # the rank of its program
    lines: int
    letters: int
    text: str


def doc_of(made: object) -> str:
    """Its docstring, in which code is indented by four spaces; `inspect.getdoc` takes that from code at the end."""
    text = inspect.getdoc(made) or ""
    first, _, rest = (made.__doc__ or "").partition("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest.splitlines() if line.strip()]
    if indents and min(indents) == 8 and isinstance(made, type):  # code alone follows the first line
        text = f"{first}\n{textwrap.indent(textwrap.dedent(rest), '    ')}"
    return text


def of_docstring(made: object) -> str:
    """The indented block of a docstring; empty if there is none."""
    blocks = re.findall(r"(?:^    .*\n?(?:^[ \t]*\n(?=    ))*)+", doc_of(made) + "\n", re.M)
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
    """By full name, "d5.bench": the shortest statement of the best program that calls it, after the assignments
    and imports of the names that it reads. If no statement of any program has all, the first line says which
    names are given."""
    found: dict[str, Example] = {}
    for rank, text in _programs():
        for name, statement in _calls(text):
            lines = statement.splitlines()
            if len(lines) > MOST_LINES or any(len(line) > LONGEST for line in lines):
                continue
            one = Example(statement.startswith("# Given: "), rank, len(lines), len(statement), statement)
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
    for name, node, scene in _within(tree, lines, {}):
        yield name, _with_scene(node, scene, lines)


#: The statement that makes a name, an assignment or an import.
Scene = dict[str, ast.stmt]


def _with_scene(node: ast.stmt | ast.expr, scene: Scene, lines: list[str]) -> str:
    """Its source after the statements that make its names, and before these the names that none makes."""
    needed: list[ast.stmt] = []
    lacking: set[str] = set()
    names = _free(node)
    while names:
        name = names.pop()
        made = scene.get(name)
        if made is None:
            lacking.add(name)
        elif made not in needed:
            needed.append(made)
            names |= _free(made) - lacking
    if lacking:
        direct = sorted(_free(node))
        return f"# Given: {', '.join(direct)}\n{_source(node, lines)}"
    needed.sort(key=lambda one: one.lineno)
    return "\n".join(_source(one, lines) for one in [*needed, node])


def _free(node: ast.AST) -> set[str]:
    """Names that it reads and does not make."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    made = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    made |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return {one.id for one in names} - made - GIVEN


def _within(node: ast.AST, lines: list[str], scene: Scene) -> Iterator[tuple[str, ast.stmt | ast.expr, Scene]]:
    """Names that are called or derived from, each with its statement and the assignments before it."""
    scene = dict(scene)
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        for one in ast.walk(node.args):
            if isinstance(one, ast.arg):
                scene.pop(one.arg, None)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Lambda) or _expects_error(child):
            continue
        if isinstance(child, (ast.Assign, ast.Expr)) and isinstance(child.value, ast.Call):
            yield from ((name, child, dict(scene)) for name in _called(child.value))
        elif isinstance(child, ast.ClassDef):
            yield from ((name, child, dict(scene)) for name in _derived(child))
        elif isinstance(child, ast.Call):
            yield from ((name, child, dict(scene)) for name in _called(child)[:1])
        yield from _within(child, lines, scene)
        if isinstance(child, ast.Assign):
            made = [one for target in child.targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            scene.update({one.id: child for one in made})
        elif isinstance(child, ast.Expr):  # such as network.add_node(...): the assignment alone is another object
            for one in _called_on(child.value):
                scene.pop(one, None)
        elif isinstance(child, (ast.Import, ast.ImportFrom)):
            scene.update({one.asname or one.name: child for one in child.names})


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


def _called_on(node: ast.expr) -> set[str]:
    """Names of the objects whose methods a statement calls."""
    made = node.func if isinstance(node, ast.Call) else None
    owner = made.value if isinstance(made, ast.Attribute) else None
    return {owner.id} if isinstance(owner, ast.Name) and owner.id not in GIVEN else set()


def _called(call: ast.Call) -> list[str]:
    names = [_name_of(one.func) for one in ast.walk(call) if isinstance(one, ast.Call)]
    return [name for name in names if name]


def _derived(made: ast.ClassDef) -> list[str]:
    return [name for name in map(_name_of, made.bases) if name]


def _expects_error(node: ast.AST) -> bool:
    if not isinstance(node, ast.With):
        return False
    return any("raises" in ast.dump(item.context_expr) for item in node.items)
