# SPDX-License-Identifier: Apache-2.0
"""The memory that a plan lays out, for a network whose blocks can be found by hand."""

import numpy as np
import pytest

import d5


def chain():
    """y = (x W)(x W), two products of 64x64 floats: 16 KiB each."""
    network = d5.Network("chain")
    network.add_input("x", "float32", [64, 64])
    network.add_parameter("w", np.zeros((64, 64), np.float32))
    network.add_node("MatMul", ["x", "w"], ["a"], name="first")
    network.add_node("MatMul", ["a", "a"], ["y"], name="second")
    network.add_output("y")
    return network


def test_a_plan_is_laid_out_without_its_memory():
    executor = d5.executor(chain(), ["reference"])
    inputs = {"x": np.zeros((64, 64), np.float32)}
    assert d5.planned_memory(executor).bytes == 0  # nothing ran
    memory = d5.plan_memory(executor, inputs)
    values = {one["name"]: one for one in memory.blocks() if one["kind"] == "value"}
    assert memory.steps == ["first", "second"]
    assert {name: one["bytes"] for name, one in values.items()} == {"a": 16384, "y": 16384}
    assert (values["a"]["begin"], values["a"]["end"]) == (0, 1)
    assert memory.bytes == max(one["offset"] + one["bytes"] for one in memory.blocks())
    executor.inference(inputs)
    assert d5.planned_memory(executor).bytes == memory.bytes
    [plot] = memory.plots()
    assert "svg" in plot.svg()


def test_a_run_is_predicted_byte_by_byte():
    executor = d5.executor(chain(), ["reference"])
    parts = d5.predicted_memory(executor, {"x": np.zeros((64, 64), np.float32)})
    assert parts["parameters"] == parts["inputs"] == 16384 and parts["gradients"] == parts["constants"] == 0
    assert parts["bytes"] == sum(parts[name] for name in ("parameters", "inputs", "plan"))


def test_a_planning_is_a_table():
    table = d5.planning_table("lenet", frameworks="reference", batch=2)
    assert len(table) == 2  # inference and training
    with pytest.raises(d5.NotFound):
        d5.planning_table("no-such-model")
