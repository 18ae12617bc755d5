# SPDX-License-Identifier: Apache-2.0
"""Whole networks that a framework in Python compiles."""

import d5
import numpy as np
import pytest
from small_frameworks import NAMES, X, perceptron


def layer(rows="N"):
    """y = relu(x w + b)"""
    network = d5.Network("layer")
    network.add_input("x", "float32", [rows, 3])
    network.add_parameter("w", np.arange(6, dtype=np.float32).reshape(3, 2) - 2)
    network.add_parameter("b", np.array([1, -1], np.float32))
    network.add_node("MatMul", ["x", "w"], ["xw"])
    network.add_node("Add", ["xw", "b"], ["h"])
    network.add_node("Relu", ["h"], ["y"])
    network.add_output("y")
    return network


def test_a_whole_network_is_compiled_in_python_for_each_size():
    executor = d5.executor(layer(), ["numpy:whole"])
    reference = d5.executor(layer(), ["reference"])
    for rows in (4, 1, 4):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        records = d5.test_executor(executor, reference, {"x": x})
        assert records and {row.status for row in records} == {"passed"}, records
    assert executor.framework == "numpy"
    executor.network.feed("b", np.array([-100, 7], np.float32))
    y = executor.inference({"x": np.zeros((1, 3), np.float32)})["y"]
    assert y.numpy().tolist() == [[0, 7]]


def test_what_computes_shapes_is_computed_before_python_sees_the_network():
    network = layer()
    network.add_node("Shape", ["y"], ["sizes"])
    network.add_constant("all", np.array([0], np.int64))
    network.add_node("Gather", ["sizes", "all"], ["rows"], axis=0)
    network.add_constant("rest", np.array([-1], np.int64))
    network.add_node("Concat", ["rest", "rows"], ["turned"], axis=0)
    network.add_node("Reshape", ["y", "turned"], ["z"])
    network.add_output("z")
    z = d5.executor(network, ["numpy:whole"]).inference({"x": np.ones((4, 3), np.float32)})["z"]
    assert z.numpy().shape == (2, 4)


def test_why_python_does_not_compile_a_network():
    with pytest.raises(d5.Unsupported, match="numpy of 'perceptron': no \\['ReduceSum'\\]"):
        d5.executor(perceptron(), ["numpy:whole"]).inference({"x": X})
    with pytest.raises(d5.Unsupported, match="NumPy has no gradients"):
        d5.executor(perceptron(), ["numpy:whole"]).inference_and_backprop({"x": X})


def executor_of(compile_network):
    @d5.register
    class Whole(d5.Framework):
        name = f"small{next(NAMES)}"
        version = "1"
        executors = {"own": compile_network}

    return d5.executor(perceptron(), [f"{Whole.name}:own"])


@pytest.mark.parametrize(
    "result, error, message",
    [
        (np.float64(1), d5.TypeError, "float64.*expected float32"),
        (np.zeros(2, "f4"), d5.ShapeError, "expected float32"),
        ((), d5.ShapeError, "returned 0 results, expected 1"),
        (None, d5.ValueError, "None as result 0"),
    ],
)
def test_a_wrong_result_of_a_whole_network_is_named(result, error, message):
    executor = executor_of(lambda plan: lambda inputs: result)
    with pytest.raises(error, match=message):
        executor.inference({"x": X})


def test_gradients_of_a_whole_network_follow_its_outputs():
    def compile_network(plan):
        assert plan.loss == "loss" and sorted(plan.gradients) == ["b", "w"]
        shapes = {"w": (3, 2), "b": (2,)}
        places = {name: plan.input_names.index(name) for name in plan.gradients}

        def run(inputs):
            assert {name: inputs[i].numpy().shape for name, i in places.items()} == shapes
            return (np.float32(3), *(np.full(shapes[name], 5, "f4") for name in plan.gradients))

        return run

    executor = executor_of(compile_network)
    assert executor.inference_and_backprop({"x": X})["loss"].item() == 3
    assert all((p.gradient.numpy() == 5).all() for p in executor.network.parameters)


def test_an_exception_of_a_whole_network_keeps_its_cause():
    with pytest.raises(d5.Error, match="ZeroDivisionError") as raised:
        executor_of(lambda plan: lambda inputs: 1 / 0).inference({"x": X})
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(d5.TypeError, match="compiling gave 3"):
        executor_of(lambda plan: 3).inference({"x": X})
