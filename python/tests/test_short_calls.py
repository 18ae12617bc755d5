# SPDX-License-Identifier: Apache-2.0
"""Small functions, each by one call; the reference shows these calls as examples."""

import numpy as np
import pytest

import d5


@pytest.fixture
def data():
    return d5.tensor_dataset({"image": np.zeros((8, 1, 4, 4), np.uint8), "label": np.arange(8) % 2})


def test_data_are_split_cut_counted_read_and_drawn(data, tmp_path):
    pair = d5.split(data, 0.25, seed=1)
    assert (len(pair.train), len(pair.test)) == (6, 2)
    assert d5.class_counts(data, field="label") == {0: 4, 1: 4}
    assert d5.read_all(data) == 8 * (16 + 8)
    half = d5.cut_sampler("shards", data, 0, 2, order="ordered", batch_size=2)
    assert half.next().size == 2
    assert d5.write_pictures(data, 2, tmp_path) == 2 and len(list(tmp_path.glob("*.png"))) == 2


def test_published_data_are_found_and_verified():
    assert isinstance(d5.found_data("cifar-10"), str)
    assert set(d5.verify_data("cifar-10", "nowhere").values()) == {"missing: is not there"}
    rows = d5.bench_dataset("mnist", batch_size=8, samplers=["ordered"], samples=3)
    assert {row.subject.split()[0] for row in rows}


def test_scores_gradients_and_pictures_are_computed():
    assert d5.count_right(np.array([[1, 2], [3, 0]], np.float32), np.array([1, 1])) == 1
    network = d5.model("lenet", with_loss=True, seed=1)
    d5.executor(network).inference_and_backprop(d5.random_inputs(network, batch=2))
    assert d5.gradient_norm(network) > 0
    assert d5.heatmap(np.eye(4, dtype=np.float32)).shape[2] == 3


def test_threads_and_memory_are_set():
    before = d5.threads()
    d5.set_threads(1)
    assert d5.threads() == 1
    d5.set_threads(before)
    assert all(" " in case for case in d5.study_kernel_cases("l2"))


def test_parts_are_made_by_name():
    assert isinstance(d5.pipeline_schedule("1f1b"), d5.PipelineSchedule)
    assert isinstance(d5.answer_step("top_k", k=2), d5.AnswerStep)
    assert isinstance(d5.accuracy_measure("top1"), d5.AccuracyMeasure)
    assert d5.cluster_of_wire("50us,1GB/s").name
    for algorithm in (d5.AllGather("ring"), d5.Broadcast("binomial"), d5.ReduceScatter("ring")):
        assert "d5." in repr(algorithm)


def test_communicators_are_decorated():
    ranks = d5.world()
    for around in (d5.with_timeout(ranks, 10), d5.with_wire(ranks, "50us,1GB/s"), d5.with_call_order(ranks)):
        assert around.size == ranks.size
    slow = d5.with_fault(ranks, "delay:rank=0,step=3,seconds=0.01")
    assert slow.size == ranks.size
    d5.set_world(ranks)
    d5.name_communication_group("mine", ranks)
    assert d5.communication_group("mine").size == ranks.size


def test_collectives_are_checked_and_measured():
    rows = d5.check_collective("all-reduce", "ring")
    assert {row.status for row in rows} == {"passed" if d5.world().size > 1 else "skipped"}
    rows = d5.bench_collective("all-reduce", ["ring"], sizes=[64], samples=3)
    assert "all-reduce" in d5.collective_text(rows) or rows


def test_steps_are_timed_and_graphs_are_read(tmp_path):
    assert len(d5.measure_steps("lenet", 2, steps=3, warm_up=1)) == 3
    graph = d5.training_graph(d5.profile_from_cost("lenet", batch=8, step_seconds=0.01), 8, ranks=1)
    graph.write(tmp_path / "graph.json")
    assert len(d5.read_operation_graph(tmp_path / "graph.json")) == len(graph)
    assert "<table" in d5.to_html(d5.measure(lambda: None, samples=3))
