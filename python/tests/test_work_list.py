# SPDX-License-Identifier: Apache-2.0
import json

import pytest
from rank_jobs import alone

import d5


def row(subject):
    made = d5.Measurement()
    made.subject, made.metric, made.unit, made.samples = subject, "time", "s", [1.0, 2.0]
    return [made]


def test_work_is_kept_in_a_file_and_gone_on_with(tmp_path):
    out, ran = tmp_path / "r.json", []

    def piece(name):
        def run():
            ran.append(name)
            return row(name)

        return run

    first = d5.run_work({"a": piece("a"), "b": piece("b")}, out=out, how="seed 1")
    assert [made.subject for made in first] == ["a", "b"]
    more = d5.run_work(
        {"a": piece("a"), "b": piece("b"), "c": piece("c")}, out=out, how="seed 1", resume=True
    )
    assert ran == ["a", "b", "c"]
    assert [made.subject for made in d5.read_results(out)] == ["a", "b", "c"] == [m.subject for m in more]
    with pytest.raises(d5.ValueError, match="seed 1"):
        d5.run_work({"a": piece("a")}, out=out, how="seed 2", resume=True)


def test_one_of_several_that_raises_is_a_failed_row():
    def broken():
        raise RuntimeError("no luck")

    rows = d5.run_work({"a": lambda: row("a"), "b": broken, "c": lambda: row("c")}, filter="[ab]")
    assert [made.status for made in rows] == ["passed", "failed"]
    assert "no luck" in rows[1].reason and rows[1].subject == "b"
    with pytest.raises(RuntimeError, match="no luck"):
        d5.run_work({"b": broken})


def test_a_pivot_is_a_table_of_cases_by_a_condition():
    rows = d5.bench("Relu 8", frameworks=["reference"], samples=3)
    table = d5.pivot(rows, "framework")
    assert table.columns[-1] == "reference"
    with pytest.raises(d5.NotFound, match="did you mean framework"):
        d5.pivot(rows, "framewrk")


@alone("the first one writes what all did")
def test_a_traced_run_leaves_a_timeline(tmp_path):
    file = tmp_path / "run.trace.json"
    executor = d5.executor(d5.model("lenet"))
    inputs = d5.random_inputs(d5.model("lenet"))
    outputs = d5.run_traced(file, lambda: executor.inference(inputs))
    assert len(outputs) == 1
    names = {event.get("name") for event in json.loads(file.read_text())["traceEvents"]}
    assert "inference" in names
    with pytest.raises(d5.IoError, match="cannot write"):
        d5.run_traced("/no/such/folder/t.json", lambda: None)
