# SPDX-License-Identifier: Apache-2.0
"""The code of docs/reference/python.md runs, block after block, as one program."""

import ast
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from rank_jobs import alone

import d5

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"

# Replacements that make slow examples faster.
SHORTER = {
    '"training": {"epochs": 2, "seed": 1}': '"training": {"epochs": 1, "most_batches": 3, "seed": 1}',
    "runs=5": "runs=2",
    "ranks=4)": f"ranks={2 if shutil.which('mpirun') else 1})",
    'd5.profile("lenet", [32])': 'd5.profile("lenet", [4])',
    "[1, 2, 4, 8], 32": "[1, 2], 4",
    "training_graph(profile, 32": "training_graph(profile, 4",
    "rows = d5.evaluate(": "rows = evaluate(",
}
BEFORE = """
from typing import Annotated
import numpy as np
import d5
def function_of(node): ...
def evaluate(*arguments, **keywords):  # test_evaluation.py runs small ones
    assert all(f"{name}:" in d5.evaluate.__doc__ for name in keywords)
    return d5.Measurements()
"""


def blocks(page):
    """Indented or fenced, that are Python."""
    indented = r"^    [^\n]+\n(?:(?:    [^\n]*)?\n)*"
    for match in re.finditer(rf"^```python\n(.*?)^```$|(?<=\n\n)({indented})", page, re.M | re.S):
        lines = (match[1] or match[2]).splitlines(keepends=True)
        indent = "" if match[1] else "    "
        text = "".join(line.removeprefix(indent) for line in lines)
        line = page.count("\n", 0, match.start()) + (1 if match[1] else 0)
        try:
            ast.parse(text)
        except SyntaxError:  # commands
            assert re.match(r"d5 |conformance |CMAKE_ARGS|pip ", text.lstrip()), f"line {line}: {text}"
            continue
        yield line, text


@pytest.mark.skipif(bool(d5._d5._left_out()), reason="this d5 was built without some buildings")
@alone("it starts ranks")
def test_the_page_is_a_program(tmp_path):
    page = PAGE.read_text()
    parts = list(blocks(page))
    assert len(parts) > 5
    program = BEFORE
    for line, text in parts:
        program += "\n" * (line - program.count("\n") - 1) if line > program.count("\n") else "\n"
        program += text
    for long, short in SHORTER.items():
        assert long in program, long
        program = program.replace(long, short)
    script = tmp_path / "page.py"
    script.write_text(program)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
