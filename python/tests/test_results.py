# SPDX-License-Identifier: Apache-2.0
"""Measurements and traces as plain values."""

import numpy as np
import pytest

import d5


def test_rows_are_chosen_and_plain():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    assert rows.where(metric="time") and not rows.where(metric="time", framework="torch")
    assert rows.where(subject="Relu*") == rows
    [first, *_] = rows.where(metric="time").rows()
    assert first["value"] == rows.where(metric="time")[0].value and first["samples"] == 5
    assert all(isinstance(value, (str, int, float)) for value in first.values())


def test_rows_are_a_table_of_pandas():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    assert list(dict(rows[0])) == list(rows.rows()[0]) and len(rows[0]) == len(dict(rows[0]))
    table = pytest.importorskip("pandas").DataFrame(rows)
    assert list(table["value"]) == [row.value for row in rows] and table["value"].dtype == np.float64
    assert table["samples"].dtype == np.int64 and set(rows[0].conditions) <= set(table.columns)


def test_two_lists_are_compared_by_what_they_measured():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5).where(metric="time")
    pairs = d5.compare(rows, rows)
    assert [pair.ratio for pair in pairs] == [1.0] * len(rows)
    assert len(d5.compare_table(pairs)) >= len(pairs)


def test_a_trace_holds_d5s_spans_and_ones_own(tmp_path):
    network = d5.model("lenet")
    executor = d5.executor(network)
    with d5.trace() as recording:
        with d5.span("training", "mine"):
            executor.inference(d5.random_inputs(network))
    rows = recording.timeline.rows()
    [mine] = [row for row in rows if row["name"] == "mine"]
    inside = [row for row in rows if row["level"] == "network"]
    assert inside and all(mine["begin_ns"] <= row["begin_ns"] <= row["end_ns"] <= mine["end_ns"] for row in inside)
    recording.timeline.write(tmp_path / "trace.json")
    assert len(d5.Timeline.read(tmp_path / "trace.json")) == len(rows)


def test_devices_say_what_they_are_or_why_they_are_absent():
    [cpu] = [row for row in d5.devices() if row["device"] == "cpu"]
    assert cpu["present"] and cpu["description"]
    assert np.all([row["description"] for row in d5.devices()])
