# SPDX-License-Identifier: Apache-2.0
"""docs/guide/python.md is a program of ten tasks, which runs and which mypy --strict accepts."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest
from rank_jobs import alone

import d5

of_evaluation = pytest.mark.skipif("evaluation" in d5._d5._left_out(), reason="built without evaluation")
PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "python.md").read_text()


@pytest.fixture
def program(tmp_path):
    """The blocks, each at its line of the page."""
    text = ""
    for block in re.finditer(r"^```python\n(.*?)^```$", PAGE, re.M | re.S):
        text += "\n" * (PAGE.count("\n", 0, block.start(1)) - text.count("\n")) + block[1]
    file = tmp_path / "guide.py"
    file.write_text(text)
    return file


def test_each_of_the_ten_tasks_has_a_block():
    tasks = re.split(r"^## ", PAGE, flags=re.M)[1:]
    assert [task.split(".")[0] for task in tasks] == [str(number) for number in range(1, 11)]
    assert [task for task in tasks if "```python\n" not in task] == []


@of_evaluation
@alone("it trains")
def test_the_guide_is_a_program(program):
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=program.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (program.parent / "results.json").exists() and (program.parent / "results.db").exists()


@of_evaluation
def test_mypy_accepts_the_guide(program):
    for module in ("mypy", "torch"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    words = ["--strict", "--follow-imports=silent", "--cache-dir", program.parent / "cache", program]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        capture_output=True,
        text=True,
        cwd=program.parent,
        env={**os.environ, "MYPYPATH": str(pathlib.Path(d5.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stdout + done.stderr
