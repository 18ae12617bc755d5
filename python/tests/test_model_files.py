# SPDX-License-Identifier: Apache-2.0
"""Networks in memory where the name of a model's file is taken, too."""

import gc
import pathlib
import tempfile

import numpy as np
import pytest

import d5


def mine():
    network = d5.Network("my net")
    network.add_input("x", "float32", ["batch", 4])
    network.add_parameter("w", np.arange(12, dtype=np.float32).reshape(4, 3))
    network.add_node("MatMul", ["x", "w"], ["y"])
    network.add_output("y")
    return network


X = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_a_network_in_memory_is_benchmarked_checked_and_run():
    rows = d5.bench_network(mine(), batch=2, samples=3)
    assert [row.subject for row in rows.where(metric="time")] == ["my_net"]
    assert [row.subject for row in d5.check_network(mine(), batch=2)] == ["my_net"]
    np.testing.assert_array_equal(d5.run_network(mine(), {"x": X})["y"].numpy(), X @ np.arange(12).reshape(4, 3))


def test_a_batch_that_is_given_by_name_is_the_batch():
    time, rate = d5.bench_network(mine(), dims={"batch": 64}, samples=3, metrics=["time"])
    assert rate.metric == "sample_rate" and rate.conditions["batch"] == 64
    assert rate.value == pytest.approx(64 / time.value)
    with pytest.raises(d5.ValueError, match="batch=2 and dims={'batch': 64}: the batch has two sizes; leave out one"):
        d5.bench_network(mine(), batch=2, dims={"batch": 64}, samples=3)


def test_a_command_reads_the_file_that_a_network_may_be_saved_to():
    assert d5.bench_network(mine(), samples=3)[0].command.startswith("d5 net bench my_net.onnx ")
    assert d5.check_network(mine())[0].command.startswith("d5 net check my_net.onnx ")


@pytest.mark.skipif("evaluation" in d5._d5._left_out(), reason="built without evaluation")
def test_a_network_in_memory_has_a_predictor():
    predictor = d5.predictor("reference", mine(), largest_batch=2)
    np.testing.assert_array_equal(predictor.predict({"x": X})["y"].numpy(), X @ np.arange(12).reshape(4, 3))


@pytest.mark.skipif("prediction" in d5._d5._left_out(), reason="built without prediction")
def test_a_network_in_memory_is_profiled():
    profile = d5.profile(d5.model("lenet", with_loss=True), [2], steps=3)
    assert profile.batches == [2] and pathlib.Path(profile.model).stem == "lenet"


def test_nothing_of_a_network_in_memory_stays():
    folder = pathlib.Path(tempfile.gettempdir())
    before = set(folder.glob("d5-model-*"))
    d5.run_network(mine(), {"x": X})
    with pytest.raises(d5.NotFound):
        d5.run_network(mine(), {"x": X}, framework="no-such-framework")
    gc.collect()
    assert set(folder.glob("d5-model-*")) <= before


def test_another_argument_is_refused_with_what_is_taken():
    with pytest.raises(d5.TypeError, match="d5.bench_network: model is 3, expected PathLike"):
        d5.bench_network(3)  # type: ignore[arg-type]
