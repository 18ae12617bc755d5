# SPDX-License-Identifier: Apache-2.0
"""A predicted step and the execution trace of it, replayed; the program and Python on the same trace."""

import d5 as module
import pytest
from conftest import of_all_buildings

pytestmark = of_all_buildings


def steps_of(records):
    return {m["conditions"]["identity"]["ranks"]: m["samples"][0] for m in records if m["metric"] == "predicted_time"}


@pytest.fixture
def profile(d5):
    d5("profile", "lenet", "--batch", 8, "--from-cost", "10ms", "--quiet", "--out", "p.json")
    return "p.json"


def test_a_step_and_its_trace(d5, profile, draw):
    ranks = draw.choice((2, 4, 8))
    cluster = draw.choice(("ethernet-10g", "ethernet-25g"))
    asked = ("--ranks", ranks, "--cluster", cluster)
    step = steps_of(d5.records("predict", profile, *asked, "--model", "formula", "--graph", "step.0.et"))
    # Between steps a training may overlap more than a step alone does; here it does not.
    assert steps_of(d5.records("predict", "step.0.et", *asked)) == pytest.approx(step, rel=1e-9)
    slow = module.cluster_of_wire("1ms,10MB/s")  # another cluster, from either side
    other = steps_of(d5.records("predict", "step.0.et", "--ranks", ranks, "--wire", "1ms,10MB/s"))
    asked = ("--ranks", ranks, "--wire", "1ms,10MB/s", "--model", "formula")
    assert other == pytest.approx(steps_of(d5.records("predict", profile, *asked)), rel=1e-9)
    assert module.predict(module.read_execution_trace(d5.folder / "step.0.et"), slow, [ranks]).points[0].step == pytest.approx(
        other[ranks], rel=0
    )


def test_a_trace_that_is_written_again(d5, profile):
    d5("predict", profile, "--ranks", 4, "--cluster", "ethernet-10g", "--graph", "step.0.et", "--quiet")
    once = (d5.folder / "step.0.et").read_bytes()
    # On the same cluster and ranks nothing changes.
    d5("predict", "step.0.et", "--ranks", 4, "--cluster", "ethernet-10g", "--graph", "again.0.et", "--quiet")
    assert (d5.folder / "again.0.et").read_bytes() == once
    trace = module.read_execution_trace(d5.folder / "step.0.et")
    trace.write(d5.folder / "python.0.et")
    assert (d5.folder / "python.0.et").read_bytes() == once
    trace.on_cluster(module.cluster_description("ethernet-10g"), 4).write(d5.folder / "placed.0.et")
    assert (d5.folder / "placed.0.et").read_bytes() == once
    graph = module.ChakraTrace(trace.graph)
    graph.write(d5.folder / "graph.0.et")
    assert (d5.folder / "graph.0.et").read_bytes() == once
