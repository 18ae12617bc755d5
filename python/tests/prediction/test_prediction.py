# SPDX-License-Identifier: Apache-2.0
import json
import math
import warnings
from typing import Any

import pytest

import d5


def lenet() -> d5.TrainingProfile:
    return d5.profile_from_cost("lenet", batch=8, step_seconds=0.010)


def test_a_profile_is_written_and_read(tmp_path):
    profile = lenet()
    assert profile.batches == [8]
    assert profile.step(8) == pytest.approx(0.010)
    pieces = profile.pieces(8)
    assert {"forward", "backward"} <= {piece["kind"] for piece in pieces}
    assert sum(piece["seconds"] + piece["gap"] for piece in pieces) == pytest.approx(0.010)
    profile.write(tmp_path / "p.json")
    assert d5.read_profile(tmp_path / "p.json").step(8) == profile.step(8)
    with pytest.raises(d5.ValueError, match="batch"):
        profile.step(0)


def test_steps_are_observed():
    profile = d5.profile("lenet", [2], steps=3, warm_up=1)
    assert profile.copies == d5.world().size
    assert profile.step(2) > 0
    assert "step" in str(profile.table())


def test_a_profile_of_a_network_has_its_name():
    profile = d5.profile(d5.model("lenet", with_loss=True), [2], steps=2, warm_up=1)
    assert profile.model == d5.model("lenet", with_loss=True).name and "/" not in profile.model
    assert "d5-model-" not in f"{profile!r}{profile.table()}{profile.mistrusted}"


def test_a_curve_is_predicted():
    cluster = d5.ClusterDescription("made up", latency=0.001, bandwidth=1e9)
    curve = d5.predict(lenet(), cluster, [1, 2], 8)
    alone, two = curve.points
    assert alone.step == pytest.approx(0.010)
    # A ring's two rounds, less the part that backpropagation hides.
    assert 0.010 < two.step < 0.010 + 2 * 0.002
    assert two.efficiency == pytest.approx(alone.step / two.step)
    assert two.step_interval[0] <= two.step <= two.step_interval[1]
    assert two.alone == pytest.approx(8 / alone.step)
    assert two.bound_by == "" and d5.predict(lenet(), cluster, [2], 8, what_helps=True).points[0].bound_by
    formula = d5.predict(lenet(), cluster, [2, 1024], 8, model="formula")
    assert formula.points[0].step == pytest.approx(two.baseline)
    faster = d5.predict(lenet(), cluster, [1, 2], 8, strategies=["compute:factor=2"])
    assert faster.points[0].step == pytest.approx(0.005)
    assert faster.strategy == "compute:factor=2"
    assert len(d5.prediction_table([curve, faster])) == 4
    assert "compute:factor=2" in d5.prediction_plot([curve, faster]).svg()
    assert {row.metric for row in curve.measurements()} == {"predicted_time", "baseline_time"}
    with pytest.raises(d5.ValueError, match="weak or strong"):
        d5.predict(lenet(), cluster, [1], 8, scaling="some")


def test_a_curve_without_a_batch_is_of_the_profiles_only_one():
    [point] = d5.predict(lenet(), "ethernet-10g", [2]).points
    assert point.batch == 8 and point.mistrusted == ""
    [beyond] = d5.predict(lenet(), "ethernet-10g", [2], 64).points
    assert beyond.batch == 64 and "outside the profiled range" in beyond.mistrusted
    two = d5.profile("lenet", [2, 4], steps=2, warm_up=0)
    with pytest.raises(d5.ValueError, match=r"2 batch sizes \(2, 4\); choose one with batch"):
        d5.predict(two, "ethernet-10g", [1])
    with pytest.raises(d5.ValueError, match="batch of -1"):
        d5.predict(lenet(), "ethernet-10g", [1], -1)


def overlap_map(file, kernel: float, calls: float, resources: str = "threads=0"):
    """A map of one kernel, which is as large as no kernel of a network."""
    records = []
    for metric, slowdown in {"kernel_slowdown": kernel, "all_reduce_slowdown": calls}.items():
        record = d5.Measurement()
        record.subject, record.level, record.metric, record.unit, record.samples = "made up", "prediction", metric, "1", [slowdown] * 6
        records.append(record)
    d5.write_results(records, file)
    content = json.loads(file.read_text())
    for record in content["measurements"]:
        record["conditions"] = {
            "identity": {"resources": resources, "ranks": 2, "all_reduce": "ring"},
            "aside": {"kernel_flop": {"value": 1e3, "unit": "flop"}, "kernel_bytes": {"value": 1e3, "unit": "byte"}},
        }
    file.write_text(json.dumps(content))
    return file


def test_what_overlaps_is_slowed_by_a_map(tmp_path):
    slow, ones, threads = tmp_path / "slow.json", tmp_path / "ones.json", tmp_path / "threads.json"
    wire: dict[str, Any] = {"ranks": [1, 2], "batch": 8, "wire": "1ms,1GB/s"}
    [alone, two] = d5.predict(lenet(), **wire).points
    assert two.contended_step is None and two.map_lacks is None
    curve = d5.predict(lenet(), map=overlap_map(slow, 3, 2), **wire)
    assert curve.points[0].contended_step == curve.points[0].step == alone.step
    with_map = curve.points[1]
    assert with_map.step == two.step and with_map.mistrusted == ""
    assert with_map.contended_step is not None and with_map.contended_step > 1.01 * two.step
    assert with_map.map_lacks is not None and with_map.map_lacks > 0.5
    assert "machine is unknown" in with_map.contended_mistrusted
    assert "with map" in str(curve.table())
    assert "contended_time" in {row.metric for row in curve.measurements()}
    for model in ("", "formula"):
        [_, same] = d5.predict(lenet(), map=overlap_map(ones, 1, 1), model=model, **wire).points
        assert same.contended_step == same.step
    overlap_map(threads, 3, 2, "threads=1")
    with pytest.raises(d5.ValueError, match=r"resources 'threads=1', the prediction's are 'threads=0'.*\(force\)"):
        d5.predict(lenet(), map=threads, **wire)
    [_, forced] = d5.predict(lenet(), map=threads, force=True, **wire).points
    assert "does not fit" in forced.contended_mistrusted
    with pytest.raises(d5.IoError, match="nowhere"):
        d5.predict(lenet(), map=tmp_path / "nowhere.json", **wire)


def test_a_wire_stands_for_a_network(tmp_path):
    cluster = d5.ClusterDescription("made up", latency=0.001, bandwidth=1e9)
    curve = d5.predict(lenet(), ranks=[1, 2], batch=8, wire="1ms,1GB/s")
    assert curve.cluster == "wire 1ms,1GB/s"
    # Nobody waits for a receive to be posted, so it is never slower than such a cluster.
    assert 0.010 < curve.points[1].step <= d5.predict(lenet(), cluster, [1, 2], 8).points[1].step
    with pytest.raises(d5.TypeError, match="a cluster or a wire"):
        d5.predict(lenet(), cluster, [1], 8, wire="1ms,1GB/s")
    with pytest.raises(d5.ValueError, match="1ms"):
        d5.predict(lenet(), ranks=[1], batch=8, wire="1ms")


def test_a_curve_writes_a_trace_of_its_most_ranks(tmp_path):
    file = tmp_path / "t.json"
    d5.predict(lenet(), "ethernet-10g", [2, 1, 64], 8, trace=file, strategies="compute:factor=2")
    steps = [row for row in d5.Timeline.read(file).rows() if row["name"] == "step"]
    assert {row["rank"] for row in steps} == {0, 1}
    assert 0.005 < (steps[-1]["end_ns"] - steps[-1]["begin_ns"]) * 1e-9 < 0.010
    with pytest.raises(d5.IoError, match="nowhere"):
        d5.predict(lenet(), "ethernet-10g", [1], 8, trace=tmp_path / "nowhere" / "t.json")


def test_clusters_are_known():
    assert "ethernet-10g" in d5.cluster_descriptions()
    assert d5.cluster_description("ethernet-10g").bandwidth == pytest.approx(1.1e9)
    with pytest.raises(d5.FormatError, match="bandwidth"):
        d5.ClusterDescription("none", latency=0, bandwidth=0)


def test_a_graph_is_scheduled():
    graph = d5.OperationGraph("step")
    back = graph.add("fc", "backward", 2.0)
    graph.add("conv", "backward", 3.0, [back])
    graph.add("bucket", "all_reduce", 5.0, [back], lane="network")
    assert graph.schedule().seconds == 7
    seconds, path = graph.critical_path()
    assert seconds == 7
    assert [graph.operations[id]["name"] for id in path] == ["fc", "bucket"]
    assert graph.most_helpful(0.5)[0] == (2, pytest.approx(2.0))  # then conv binds
    with pytest.raises(d5.ValueError):
        graph.retime(back, math.nan)


def test_a_training_graph_takes_the_step():
    profile = lenet()
    assert d5.training_graph(profile, 8).schedule().seconds == pytest.approx(0.010)
    cluster = d5.cluster_description("ethernet-10g")
    assert d5.training_graph(profile, 8, ranks=4, cluster=cluster).schedule().seconds > 0.010


def test_a_grid_of_settings_is_reported(tmp_path):
    (tmp_path / "grid.csv").write_text("model,batch,slow,fast\nlenet,8,100,150\n")
    best, single = d5.overlap_report(tmp_path / "grid.csv", base="slow")
    assert "fast" in best.rows[0]
    assert len(single) == 2


def test_simulated_ranks_take_what_formulas_say():
    cluster = d5.ClusterDescription("made up", latency=0.001, bandwidth=1e9)

    def seconds(work, ranks=4, **how):
        return d5.run_simulated(ranks, cluster, work, model="closed", **how)["seconds"]

    assert seconds(lambda rank, ranks: [("compute", 2.0 + rank)]) == pytest.approx(5)
    # A ring: 2 (n - 1) messages of 1/n of the data, one after the other.
    ring = seconds(lambda rank, ranks: [("all_reduce", 4e6)])
    assert ring == pytest.approx(2 * 3 * (0.001 + 1e6 / 1e9), rel=1e-6)
    message = seconds(lambda rank, ranks: [("send", 1e6, 1)] if rank == 0 else [("receive", 1e6, 0)], ranks=2)
    assert message == pytest.approx(0.001 + 1e6 / 1e9, rel=1e-6)
    with pytest.raises(d5.CommunicationError, match="receive"):
        seconds(lambda rank, ranks: [("receive", 8, 1 - rank)], ranks=2)
    with pytest.raises(d5.ValueError, match="'compute', seconds"):
        seconds(lambda rank, ranks: [("sleep", 1)])


def test_a_timeline_is_predicted():
    cluster = d5.cluster_description("ethernet-10g")
    timeline = d5.predicted_timeline(lenet(), cluster, 2, 8)
    steps = [row for row in timeline.rows() if row["name"] == "step"]
    assert {row["rank"] for row in steps} == {0, 1}
    alone = d5.predicted_timeline(lenet(), cluster, 1, 8)
    step = [row for row in alone.rows() if row["name"] == "step"][-1]
    assert (step["end_ns"] - step["begin_ns"]) * 1e-9 == pytest.approx(0.010, rel=1e-6)
    both = d5.measured_above_predicted(timeline, timeline)
    assert len([row for row in both.rows() if row["name"] == "step"]) == 4


def test_profiles_networks_and_timelines_can_be_sent():
    import pickle

    profile = pickle.loads(pickle.dumps(lenet()))
    assert profile.step(8) == lenet().step(8)
    cluster = d5.cluster_description("ethernet-10g")
    assert pickle.loads(pickle.dumps(cluster)).yaml() == cluster.yaml()
    timeline = d5.predicted_timeline(lenet(), cluster, 2, 8)
    assert pickle.loads(pickle.dumps(timeline)).rows() == timeline.rows()


def test_former_words_warn():
    """A cluster was called a network: the former names hold for one release."""
    former: Any = d5  # type checkers do not know these names
    with pytest.warns(DeprecationWarning, match="cluster_description now"):
        cluster = former.network_description("ethernet-10g")
    with pytest.warns(DeprecationWarning, match="ClusterDescription now"):
        assert isinstance(cluster, former.NetworkDescription)
    with pytest.warns(DeprecationWarning, match="network= is cluster= now") as seen:
        curve = former.predict(lenet(), network=cluster, ranks=[1], batch=8)
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="network= is cluster= now") as seen:
        former.predicted_timeline(lenet(), network=cluster, ranks=1, batch=8)
    assert seen[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="network= is cluster= now"):
        former.run_simulated(2, network=cluster, work=lambda rank, ranks: [("barrier",)])
    with pytest.warns(DeprecationWarning, match="PredictedCurve.cluster now"):
        assert curve.network == curve.cluster == "ethernet-10g"
    with pytest.raises(AttributeError, match="no attribute 'network_of'"):
        former.network_of


def test_present_words_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = d5.predict(lenet(), cluster="ethernet-10g", ranks=[1], batch=8)
        assert curve.cluster == "ethernet-10g"
        d5.predicted_timeline(lenet(), cluster=d5.cluster_description("ethernet-10g"), ranks=1, batch=8)
