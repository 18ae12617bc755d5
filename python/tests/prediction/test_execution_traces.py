# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import pickle
import typing

import pytest

import d5

CHAKRA = pathlib.Path(os.environ.get("D5_DATA_DIR", "nowhere")) / "chakra/chakra.0.et"


def step() -> d5.OperationGraph:
    graph = d5.OperationGraph("step.0")
    back = graph.add("fc", "backward", 2e-3)
    graph.add("update", "update", 1e-3, [back])
    return graph


def test_a_graph_is_an_execution_trace(tmp_path: pathlib.Path) -> None:
    d5.ChakraTrace(step()).write(tmp_path / "step.0.et")
    trace = d5.read_execution_trace(tmp_path / "step.0.et")
    assert len(trace.graph) == 2 and trace.notes == [] and trace.metadata == {}
    assert trace.graph.operations == step().operations
    assert trace.graph.schedule().seconds == pytest.approx(3e-3)
    assert repr(trace) == "<d5.ChakraTrace step.0: 2 operations>"
    sent = pickle.loads(pickle.dumps(trace))
    assert sent.graph.operations == trace.graph.operations
    assert "replay" in str(trace.table())


def test_a_trace_is_predicted(tmp_path: pathlib.Path) -> None:
    trace = d5.ChakraTrace(step())
    curve = d5.predict(trace, "ethernet-10g", [1, 4], 8, strategies="compute:factor=2")
    assert curve.cluster == "ethernet-10g" and curve.strategy == "compute:factor=2"
    assert [point.step for point in curve.points] == pytest.approx([1.5e-3, 1.5e-3])
    assert curve.points[1].throughput == pytest.approx(32 / 1.5e-3)
    assert [m.metric for m in curve.measurements()] == ["predicted_time", "predicted_time"]
    placed = trace.on_cluster(d5.cluster_description("h100-pod"), 8, strategies=["compute:factor=2"])
    assert placed.graph.schedule().seconds == pytest.approx(1.5e-3)


def test_a_trace_is_refused_with_a_way_out(tmp_path: pathlib.Path) -> None:
    trace = d5.ChakraTrace(step())
    for given in ({"scaling": "strong"}, {"model": "ports"}, {"every_rank": True}, {"trace": "t.json"}, {"map": "m.json"}):
        with pytest.raises(d5.TypeError, match="is replayed"):
            d5.predict(trace, "ethernet-10g", [2], **typing.cast(typing.Any, given))
    with pytest.raises(d5.ValueError, match="the strategies compute and wire"):
        d5.predict(trace, "ethernet-10g", [2], strategies=["buckets:bytes=1MiB"])
    with pytest.raises(d5.TypeError, match="read_execution_trace"):
        d5.predict("trace.0.et", "ethernet-10g", [2])
    (tmp_path / "cut.0.et").write_bytes(b"\x20\x0a")
    with pytest.raises(d5.FormatError, match="cut off"):
        d5.read_execution_trace(tmp_path / "cut.0.et")


@pytest.mark.skipif(not CHAKRA.exists(), reason="needs D5_DATA_DIR with chakra")
def test_a_trace_of_pytorch(tmp_path: pathlib.Path) -> None:
    trace = d5.read_execution_trace(CHAKRA)
    assert len(trace.graph) == 3664 and len(trace.notes) == 3
    assert trace.metadata["schema"] == "1.0.1" and trace.metadata["chakra.attr.pid"] == "uint64_val: 114598"
    trace.write(tmp_path / "again.0.et")
    assert (tmp_path / "again.0.et").read_bytes() == CHAKRA.read_bytes()
    fast, slow = (d5.predict(trace, cluster, [16]).points[0] for cluster in ("h100-pod", d5.cluster_of_wire("50us,100MB/s")))
    assert fast.step == pytest.approx(0.2955, rel=1e-3) and fast.exposed == pytest.approx(0, abs=1e-6)
    assert slow.step > 1.9 and slow.bound_by == "bandwidth"  # 15 / 8 of 102 MB at 100 MB/s
