# SPDX-License-Identifier: Apache-2.0
"""Networks of two ranks that talk to each other in the graph."""

import pathlib

import pytest
from rank_jobs import output_of_two

import d5

BEGIN = """
import numpy as np
import d5
d5.add_communication_operators()
ranks = d5.world()
rank, size = ranks.rank, ranks.size
def digits(step, count=4):
    random = np.random.default_rng(10 * step)
    image = random.random((count, 1, 28, 28), dtype=np.float32)
    return {"image": image, "label": random.integers(0, 10, count)}
"""


def run(script, folder):
    return output_of_two(BEGIN + script, folder)


def test_a_node_sums_over_the_ranks_of_its_group(tmp_path):
    out = run(
        """
group = ranks.split(0)
d5.name_communication_group("both", group)
assert d5.communication_group("both").size == 2
network = d5.Network("sum")
network.add_input("x", "float64", [3])
network.add_node("AllReduce", ["x"], ["y"], domain="d5", group="both")
network.add_output("y")
y = d5.executor(network).inference({"x": np.array([1.0, rank, -rank])})["y"]
assert np.asarray(y).tolist() == [2, 1, -1], y
print("summed")
""",
        tmp_path,
    )
    assert out.count("summed") == 2


def test_an_operator_of_ones_own_calls_the_ranks(tmp_path):
    examples = pathlib.Path(__file__).parents[2] / "examples"
    source = examples / "110_communication_operator" / "averaged_gradient.cpp"
    out = run(
        f"""
assert "example.RingAllReduce" in d5.op.compile({str(source)!r})
network = d5.Network("sum")
network.add_input("x", "float64", [3])
network.add_node("RingAllReduce", ["x"], ["y"], domain="example")
network.add_output("y")
y = d5.executor(network).inference({{"x": np.array([1.0, rank, -rank])}})["y"]
assert np.asarray(y).tolist() == [2, 1, -1], y
print("summed")
""",
        tmp_path,
    )
    assert out.count("summed") == 2


def test_dsgd_trains_each_rank_by_the_mean_of_gradients(tmp_path):
    out = run(
        """
def trained(batches, transform):
    network = d5.model("lenet", seed=3, with_loss=True)
    if transform:
        assert "averages" in network.apply("dsgd").what
    optimizer = d5.optimizer("sgd", d5.executor(network), "loss", learning_rate=0.1)
    for batch in batches:
        optimizer.step(batch)
    return {p.name: np.array(p.value) for p in optimizer.executor.network.parameters}

whole = [digits(step) for step in range(2)]
mine = [{name: value[2 * rank : 2 * rank + 2] for name, value in batch.items()} for batch in whole]
together, alone = trained(mine, True), trained(whole, False)
for name, value in alone.items():
    # Sums of 4 samples in another order: roundings of 2^-24, which two steps carry on.
    assert np.linalg.norm(together[name] - value) <= 1e-5 * np.linalg.norm(value), name
print("trained")
""",
        tmp_path,
    )
    assert out.count("trained") == 2


def test_two_stages_have_the_gradients_of_the_whole_network(tmp_path):
    out = run(
        """
network = d5.model("lenet", seed=3, with_loss=True)
parts = d5.partition(network, size, batch=4)
assert parts[0].sends == parts[1].receives and not parts[1].sends
for schedule in d5.pipeline_schedules():
    stage = d5.PipelineStage(parts[rank], "loss", ranks, schedule=schedule)
    batches = [digits(0), digits(1)]
    loss = stage.run(batches)
    assert (loss is None) == (rank == 0)
    whole = d5.executor(d5.model("lenet", seed=3, with_loss=True))
    sums, losses = {}, []
    for batch in batches:
        outputs = whole.inference_and_backprop(batch, "loss")
        losses.append(float(np.asarray(outputs["loss"])))
        for p in whole.network.parameters:
            sums[p.name] = sums.get(p.name, 0) + np.array(p.gradient) / 2
    for p in stage.network.parameters:
        # The mean of two, halved before or after they are added: roundings of 2^-24.
        assert np.allclose(np.asarray(p.gradient), sums[p.name], rtol=1e-5, atol=1e-7), p.name
    if loss is not None:
        assert abs(loss - sum(losses) / 2) < 1e-6
print("staged")
""",
        tmp_path,
    )
    assert out.count("staged") == 2


def test_schedules_are_tried_without_ranks():
    # With k stages and m micro-batches, (k - 1) / (m + k - 1) of the time is idle.
    for schedule in ("gpipe", "1f1b"):
        assert d5.try_schedule(schedule, 4, 8).bubble == pytest.approx(3 / 11)
    assert d5.try_schedule("gpipe", 4, 8).most_in_flight == [8, 8, 8, 8]
    assert d5.try_schedule("1f1b", 4, 8).most_in_flight == [4, 3, 2, 1]
    assert "pipeline" in d5.partitions()


def test_what_cannot_be_is_an_error_of_its_type():
    d5.add_communication_operators()
    with pytest.raises(d5.NotFound):
        d5.communication_group("nobody")
    with pytest.raises(d5.NotFound):
        d5.partition(d5.model("lenet"), 2, "pipelines")
    with pytest.raises(d5.ValueError):
        d5.partition(d5.model("lenet"), 0, batch=4)
    with pytest.raises(d5.ValueError):
        d5.try_schedule("gpipe", 0, 1)
