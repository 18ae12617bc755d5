# SPDX-License-Identifier: Apache-2.0
"""What is measured on ranks: within one job, and on ranks that are started for it."""

import numpy as np
import pytest
from rank_jobs import alone, needs_mpirun

import d5


def busy():
    np.dot(np.ones((64, 64)), np.ones((64, 64)))


def measure_all(folder):
    """On two ranks, all in one job."""
    import time

    ranks = d5.world()
    told = []

    class Listener(d5.Event):
        def before_call(self, call):
            told.append(call.label)

    listener = Listener()
    ranks.add_event(listener)
    gradient = d5.Tensor(np.full(1000, ranks.rank + 1.0, np.float32))
    reduce = d5.AllReduce("node_memory")
    call = ranks.with_options(lambda: reduce.start(ranks, gradient), resources="threads=1", label="fc")
    call.wait()
    ranks.remove_event(listener)
    plain = ranks.start_barrier()
    plain.wait()

    recorder = d5.OverlapRecorder()
    ranks.add_event(recorder)
    for _ in range(2):
        recorder.begin_step()
        recorder.begin_compute()
        ranks.all_reduce(gradient)
        recorder.end_step()
    ranks.remove_event(recorder)

    def late():
        for _ in range(4):  # on a busy machine the other rank may be as late once
            if ranks.rank == 1:
                time.sleep(0.05)
            ranks.barrier()

    d5.run_traced(folder / "late.json", late)
    own_map = folder / f"map-{ranks.rank}.json"
    worked = d5.overlap_map(["Gemm 8x8 8x8"], all_reduce="ring", resources=["threads=0"], bytes=4096, pairs=6)
    d5.write_results(worked, own_map)
    return {
        "sum": gradient.numpy()[0] / 4,  # summed three times: (1 + 2) * 2 * 2
        "labels": set(told),
        "used": (call.used, plain.used),
        "steps": [(step.step, step.compute + step.overlap + step.communication + step.idle) for step in recorder.steps],
        "calls": [len(step.buckets()) for step in recorder.steps],
        "table": len(d5.account_table(recorder.steps)),
        "cluster": d5.calibrate("here", repetitions=2, least_bytes=1024, most_bytes=1 << 22),
        "curve": [
            (point.ranks, point.batch, point.step, point.measured, point.contended_step, point.map_lacks)
            for point in d5.predict(
                "lenet", batch=2, measure=[1, 2], steps=2, repetitions=2, trace=folder / "both.json", map=own_map, force=True
            ).points
        ],
        "map": d5.overlap_map({"busy": busy}, resources=["threads=0"], bytes=4096, pairs=6),
        "search": d5.overlap_search("lenet", batch=2, resources=["default"], rounds=2, steps_per_block=1),
    }


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    return folder, d5.launch(measure_all, folder, ranks=2)


@needs_mpirun
def test_a_call_takes_the_resources_that_it_is_given(measured):
    for rank in measured[1]:
        assert rank["sum"] == 3
        assert "fc" in rank["labels"]
        used, none = rank["used"]
        assert used[0].startswith("threads=1") and used[1] == "" and none is None


@needs_mpirun
def test_the_parts_of_a_step_are_the_step(measured):
    for rank in measured[1]:
        assert len(rank["steps"]) == 2 and rank["calls"] == [1, 1] and rank["table"] == 1
        for step, parts in rank["steps"]:
            assert parts == pytest.approx(step) and step > 0


@needs_mpirun
def test_who_came_late_is_told(measured):
    arrivals = d5.late_arrivals(d5.Timeline.read(measured[0] / "late.json"))
    [late] = [pair for pair in arrivals if pair["late"] == 1]
    assert late["waiting"] == 0 and late["seconds"] > 0.03


@needs_mpirun
def test_a_network_is_fitted_between_ranks(measured):
    first, second = (rank["cluster"] for rank in measured[1])
    assert first.cluster.yaml() == second.cluster.yaml() and first.cluster.bandwidth > 0
    assert first.cluster.name == "here" and {"message"} <= {time["what"] for time in first.held_out()}
    for time in first.held_out():
        assert time["error"] == pytest.approx(time["predicted"] / time["measured"] - 1)
    assert len(first.table()) == len(first.held_out())


@needs_mpirun
def test_a_prediction_stands_beside_what_was_measured(measured):
    first, second = (rank["curve"] for rank in measured[1])
    assert first == second and [ranks for ranks, *_ in first] == [1, 2]
    for ranks, batch, step, measured_steps, contended_step, lacking in first:
        assert batch == 2 and step > 0 and len(measured_steps) == 2
        # A map of one small kernel, by the records of this job: nothing of lenet is as small.
        assert (contended_step == step and lacking == 0) if ranks == 1 else (contended_step > 0 and lacking > 0.5)
    steps = [row for row in d5.Timeline.read(measured[0] / "both.json").rows() if row["name"] == "step"]
    assert [row["begin_ns"] for row in steps if row["rank"] == 0] == [0, 0]  # measured and predicted


@needs_mpirun
def test_what_communication_takes_from_a_kernel_in_python_is_mapped(measured):
    for rank in measured[1]:
        rows = rank["map"]
        assert [row.metric for row in rows] == ["kernel_slowdown", "all_reduce_slowdown"]
        assert all(len(row.samples) == 6 and row.subject == "busy" for row in rows)
        assert len(d5.overlap_map_table(rows)) == 1 and len(d5.overlap_map_plots(rows)) == 2


@needs_mpirun
def test_settings_of_communication_are_searched(measured):
    first, second = (rank["search"] for rank in measured[1])
    assert len(first) == len(second)  # rank 0's, on every rank
    [time] = first.where(metric="step_time")
    assert len(time.samples) >= 2
    best, single = d5.overlap_report(first)
    assert len(best) == len(single) == len(d5.overlap_parts_table(first)) == 1


@needs_mpirun
def test_ranks_are_started_where_there_is_no_job(tmp_path):
    how = {"wire": "5ms,1GB/s", "trace": tmp_path / "both.json", "steps": 6, "launches": 2, "repetitions": 1}
    curve = d5.predict("lenet", batch=4, measure=[2], scaling="strong", **how)
    [point] = curve.points
    assert point.batch == 2 and len(point.measured) == 2  # a launch each
    assert curve.cluster == "this machine, wire 5ms,1GB/s"
    # A ring of two sums and spreads in two rounds, which the wire delays.
    assert min(point.measured) > 0.010 and point.step > 0.010
    lengths = [
        row["end_ns"] - row["begin_ns"] for row in d5.Timeline.read(how["trace"]).rows() if row["name"] == "step"
    ]
    assert len(lengths) >= 2 and min(lengths) > 10e6


def too_many():
    with pytest.raises(d5.ValueError, match="3 ranks, of a job of 2"):
        d5.predict("lenet", batch=2, measure=[3])
    with pytest.raises(d5.NotFound, match="lenett"):
        d5.predict("lenett", batch=2, measure=[1])  # fails at rank 0 alone, and is raised on both
    with pytest.raises(d5.IoError, match="nowhere"):
        d5.predict("lenet", batch=2, measure=[1], trace="/nowhere/t.json")
    with pytest.raises(d5.ValueError, match="not restarted"):
        d5.predict("lenet", batch=2, measure=[1], launches=2)


@needs_mpirun
def test_a_failure_within_a_job_is_raised_on_every_rank():
    d5.launch(too_many, ranks=2)


def test_what_cannot_be_predicted_is_refused():
    with pytest.raises(d5.TypeError, match="measure"):
        d5.predict("lenet", batch=2)
    with pytest.raises(d5.TypeError, match="takes no profile"):
        d5.predict("lenet", "ethernet-10g", batch=2, measure=[1])
    with pytest.raises(d5.ValueError, match="batch of 0"):
        d5.predict("lenet", measure=[1])
    with pytest.raises(d5.ValueError, match="0 launches"):
        d5.predict("lenet", batch=2, measure=[1], launches=0)


@needs_mpirun
def test_a_recipe_is_trained_on_more_and_more_ranks(tmp_path):
    def scaled(**how):
        return d5.scale(
            "mnist-lenet-quick", ranks=[1, 2], runs=2, overrides=["training.most_batches=2", "training.epochs=1"], **how
        )

    said = []
    rows = scaled(out=tmp_path / "s.json", say=said.append)
    throughput = rows.where(metric="throughput")
    assert [row.conditions["ranks"] for row in throughput] == [1, 2]
    [efficiency] = rows.where(metric="efficiency")
    for run in range(2):
        ratio = throughput[1].samples[run] / throughput[0].samples[run]
        assert efficiency.samples[run] == pytest.approx(ratio / 2)
    assert len(d5.scaling_summary(rows)) == 2 and "svg" in d5.scaling_plot(rows).svg()
    assert said
    again = scaled(out=tmp_path / "s.json", resume=True)
    assert again.where(metric="throughput")[1].samples == throughput[1].samples  # nothing ran again


@alone("they start none")
def test_a_run_that_fails_is_a_failed_row():
    rows = d5.scale("mnist-lenet-quick", ranks=[1], runs=1, placement=["Conv=nowhere"])
    [row] = rows.where(metric="throughput")
    assert row.status == "failed" and "nowhere" in row.reason
