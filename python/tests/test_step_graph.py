# SPDX-License-Identifier: Apache-2.0
"""A training step as one graph in an ONNX file."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

import d5


def batch(seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {"image": draw.random((3, 1, 28, 28), np.float32), "label": draw.integers(0, 10, 3)}


def optimizer(name: str, **options: Any) -> d5.BoundOptimizer:
    network = d5.model("lenet", with_loss=True, seed=2)
    return d5.optimizer(name, d5.executor(network), **options)


def test_a_step_is_saved_loaded_and_gives_the_optimizers_bits(tmp_path):
    adam = optimizer("adam", learning_rate=0.003)
    adam.step(batch(0))
    step = d5.StepGraph(adam)
    assert step.steps == 1 and step.loss == "loss"
    assert step.hyper_parameters["learning_rate"] == 0.003
    step.save(tmp_path / "step.onnx")
    step = d5.StepGraph.load(tmp_path / "step.onnx")
    for seed, rate in ((1, 0.003), (2, 0.001)):
        adam.set_hyper_parameter("learning_rate", rate)
        step.set_hyper_parameter("learning_rate", rate)
        expected, given = adam.step(batch(seed)), step.step(batch(seed))
        assert set(expected) == set(given)
        for name, value in expected.items():
            assert np.array_equal(value.numpy(), given[name].numpy())
        for parameter in adam.network.parameters:
            assert np.array_equal(parameter.value.numpy(),
                                  step.network.fetch(parameter.name).numpy())
    assert step.steps == 3 and len(step.parameters) == len(adam.network.parameters)
    images = {"image": batch(3)["image"]}
    tested = d5.executor(step.inference()).inference(images)
    trained = d5.executor(d5.without_loss(adam.network)).inference(images)
    for name, value in trained.items():
        assert np.array_equal(value.numpy(), tested[name].numpy())


def test_onnx_sees_a_model_with_training_information(tmp_path):
    path = tmp_path / "step.onnx"
    d5.StepGraph(optimizer("momentum", nesterov=True)).save(path)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [value.name for value in model.graph.input] == ["image"]  # no label: it is for tests
    info, = model.training_info
    own = {tensor.name for tensor in model.graph.initializer}
    algorithm = {tensor.name for tensor in info.algorithm.initializer}
    outputs = {value.name for value in info.algorithm.output}
    bindings = {entry.key: entry.value for entry in info.update_binding}
    assert own <= set(bindings) and set(bindings) <= own | algorithm
    assert set(bindings.values()) <= outputs and "loss" in outputs
    types = [(node.domain, node.op_type) for node in info.algorithm.node]
    assert ("ai.onnx.preview.training", "Gradient") in types and ("d5", "Update") in types
    # The standard's training graph passes ONNX's checker as a graph of its own.
    for field in ("node", "input", "output", "initializer"):
        getattr(model.graph, field).extend(getattr(info.algorithm, field))
    onnx.checker.check_model(model)


def test_the_model_beside_the_step_is_one_like_any_other(tmp_path):
    path = tmp_path / "step.onnx"
    step = d5.StepGraph(optimizer("sgd"))
    step.step(batch(0))
    step.save(path)
    images = {"image": batch(1)["image"]}
    network = d5.Network.load(path)
    expected = d5.executor(step.inference()).inference(images)
    given = d5.executor(network).inference(images)
    for name, value in expected.items():
        assert np.array_equal(value.numpy(), given[name].numpy())
    network.save(tmp_path / "again.onnx")  # with what it said of training
    assert d5.StepGraph.load(tmp_path / "again.onnx").steps == 1


def test_what_is_no_step_is_refused(tmp_path):
    d5.model("lenet").save(tmp_path / "plain.onnx")
    with pytest.raises(d5.FormatError, match="no training information"):
        d5.StepGraph.load(tmp_path / "plain.onnx")
    with pytest.raises(d5.Unsupported, match="clip_norm"):
        d5.StepGraph(optimizer("sgd", modifiers="clip_norm"))
    step = d5.StepGraph(optimizer("sgd"))
    with pytest.raises(d5.NotFound, match="label"):
        step.step({"image": batch(0)["image"]})
    step.save(tmp_path / "step.onnx")

    def refuse(change: Callable[[Any], object], error: type[Exception], message: str) -> None:
        model = onnx.load(tmp_path / "step.onnx")
        change(model.training_info)
        onnx.save(model, tmp_path / "other.onnx")
        with pytest.raises(error, match=message):
            d5.StepGraph.load(tmp_path / "other.onnx")

    def rename(bindings: Any, key: str, value: str) -> None:
        bindings[0].key, bindings[0].value = key or bindings[0].key, value or bindings[0].value

    refuse(lambda infos: rename(infos[0].update_binding, "", "nobody"), d5.FormatError,
           "there is no such output")
    refuse(lambda infos: rename(infos[0].update_binding, "nobody", ""), d5.FormatError,
           "there is no such initializer")
    refuse(lambda infos: infos[0].update_binding.append(infos[0].update_binding[0]),
           d5.FormatError, "twice")
    refuse(lambda infos: infos.append(infos[0]), d5.Unsupported, "several")
    refuse(lambda infos: infos[0].algorithm.node.pop(0), d5.FormatError,
           "written by none of its nodes")
    refuse(lambda infos: infos[0].ClearField("algorithm"), d5.FormatError, "no training")


def test_steps_of_other_tools_run(tmp_path):
    """y = w x, loss y^2; ONNX's own Momentum with its rate and count as inputs."""
    training = "ai.onnx.preview.training"
    tensor = onnx.helper.make_tensor_value_info
    number = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["w", "x"], ["y"])], "line",
        [tensor("x", number, [1])], [tensor("y", number, [1])],
        [onnx.numpy_helper.from_array(np.array([2], np.float32), "w")])
    algorithm = onnx.helper.make_graph(
        [onnx.helper.make_node("Mul", ["y", "y"], ["loss"]),
         onnx.helper.make_node("Gradient", ["w", "x"], ["dw"], domain=training, xs=["w"], zs=["x"],
                               y="loss"),
         onnx.helper.make_node("Momentum", ["rate", "count", "w", "dw", "v"], ["w_new", "v_new"],
                               domain=training, alpha=0.5, beta=1.0, mode="standard",
                               norm_coefficient=0.0)],
        "step", [tensor("rate", number, []), tensor("count", onnx.TensorProto.INT64, [])],
        [tensor("loss", number, [1]), tensor("w_new", number, [1]), tensor("v_new", number, [1])],
        [onnx.numpy_helper.from_array(np.array([0], np.float32), "v")])
    model = onnx.helper.make_model(graph, opset_imports=[
        onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid(training, 1)])
    model.ir_version = 8
    info = model.training_info.add()
    info.algorithm.CopyFrom(algorithm)
    for key, value in (("w", "w_new"), ("v", "v_new")):
        info.update_binding.add(key=key, value=value)
    onnx.save(model, tmp_path / "other.onnx")
    step = d5.StepGraph.load(tmp_path / "other.onnx")
    assert step.loss == "loss" and step.parameters == ["w"] and step.hyper_parameters == {}
    outputs = step.step({"x": np.array([3], np.float32), "rate": np.float32(0.125),
                         "count": np.int64(0)})
    assert outputs["loss"].numpy().item() == 36
    assert step.network.fetch("v").numpy().item() == 36  # 2 y x
    assert step.network.fetch("w").numpy().item() == 2 - 0.125 * 36
    step.save(tmp_path / "again.onnx")
    again = d5.StepGraph.load(tmp_path / "again.onnx")
    assert again.network.fetch("w").numpy().item() == -2.5
