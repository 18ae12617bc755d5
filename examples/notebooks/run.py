#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cells of a notebook, without Jupyter.

usage: run.py NOTEBOOK [PAGE]    (the module d5 on the Python path)

A cell whose last line is an expression shows it as a notebook does; PAGE is an HTML file of that.
An exception of a cell is printed with its lines; exit status 1.
"""

import ast
import html
import json
import linecache
import pathlib
import sys
import traceback
from typing import Any


def code_of(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def shown(value: object) -> str:
    for method in ("_repr_html_", "_repr_svg_"):
        if hasattr(value, method):
            return str(getattr(value, method)())
    return f"<pre>{html.escape(repr(value))}</pre>"


def run(code: str, file: str, space: dict[str, Any]) -> str:
    """Runs a cell in `space`; returns the display of its last expression."""
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)  # for tracebacks
    tree = ast.parse(code, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec"), space)
    if last is None:
        return ""
    value = eval(compile(ast.Expression(last.value), file, "eval"), space)  # type: ignore[attr-defined]
    return "" if value is None else shown(value)


def main(notebook: pathlib.Path, page: pathlib.Path | None) -> int:
    parts = ["<!doctype html><meta charset='utf-8'><body style='font-family: sans-serif; max-width: 60em'>"]
    space = sys.modules["__main__"].__dict__  # the cells' namespace
    for number, cell in enumerate(json.loads(notebook.read_text())["cells"], 1):
        text = code_of(cell)
        if cell["cell_type"] != "code":
            parts.append(f"<p>{html.escape(text)}</p>")
            continue
        try:
            output = run(text, f"<{notebook.name} cell {number}>", space)
        except BaseException:
            traceback.print_exc()
            return 1
        parts += [f"<pre style='background: #eee'>{html.escape(text)}</pre>", output]
    if page:
        page.write_text("\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None))
