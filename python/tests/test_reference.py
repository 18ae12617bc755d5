# SPDX-License-Identifier: Apache-2.0
"""The reference pages are what python/reference/write_reference.py writes of this d5: signatures, words, examples."""

import ast
import importlib.util
import pathlib
import re
import sys

import pytest

import d5

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python" / "reference"

# Names without an example, each with the reason.
WITHOUT_EXAMPLE = {
    "d5.BoundDistributedOptimizer": "d5.distributed_optimizer makes them; its result has the type of its base class",
    "d5.ContainerWriter": "a d5.Container in Python gives one",
    "d5.ModelPlan": "the argument of a framework's executors",
    "d5.NativeEvent": "the base class of metrics in C++",
    "d5.PipelineStage": "needs ranks",
    "d5.compare_overlap_maps": "needs the maps of two machines",
    "d5.compile_operators": "d5.op.compile is its door",
    "d5.custom_op_from_native": "d5.op.from_native is its door",
    "d5.fetch_data": "downloads",
    "d5.joined_launches": "d5.profile by several launches joins them",
    "d5.launch_words": "d5.launch starts ranks",
    "d5.leave_world": "ends the process's part in a job",
    "d5.load_extension": "d5.op.load is its door",
    "d5.register_operator": "d5.operator is its door",
    "d5.scaling_table": "needs rows of several numbers of ranks",
    "d5.set_memory_budget": "would bound all later tests",
}


@pytest.fixture(scope="module")
def reference():
    if d5._d5._left_out():
        pytest.skip("this d5 was built without some buildings")
    pytest.importorskip("torch")
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("write_reference", FOLDER / "write_reference.py")
        assert spec and spec.loader
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        yield made
    finally:
        sys.path.pop(0)


def test_the_pages_are_current(reference):
    for name, text in reference.pages().items():
        assert (ROOT / "docs" / "reference" / name).read_text() == text, f"run python/reference/write_reference.py, which writes {name}"


def test_every_function_has_its_signature_and_every_name_an_example(reference):
    assert sorted(reference.lacking()) == sorted(WITHOUT_EXAMPLE)
    pages = "".join(reference.pages().values())
    functions = [name for name in vars(d5)["__all__"] if not isinstance(getattr(d5, name), type) and callable(getattr(d5, name))]
    assert len(functions) > 150
    assert [name for name in functions if not re.search(rf"^d5\.{name}\(", pages, re.M)] == []


def test_examples_are_python_and_lines_are_short(reference):
    for name, text in reference.pages().items():
        for example in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            ast.parse(example)
        assert [line for line in text.splitlines() if len(line) > 100] == [], name


def test_an_example_is_the_shortest_call_of_a_program(reference):
    import reference_examples  # type: ignore[import-not-found, unused-ignore]

    text = "with raises(E):\n    d5.bench(3)\nrows = d5.bench('Relu 4', samples=3)\nassert d5.bench('Relu 4')\nlambda: d5.open(1)\n"
    found = list(reference_examples._calls(text))
    assert ("d5.bench", "rows = d5.bench('Relu 4', samples=3)") in found and ("d5.bench", "d5.bench('Relu 4')") in found
    assert not [source for _, source in found if "3)" in source and "samples" not in source] and "d5.open" not in dict(found)
