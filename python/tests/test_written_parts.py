# SPDX-License-Identifier: Apache-2.0
"""The parts that docs/reference/python.md writes in ten lines each do what they say."""

import pathlib
import re

import numpy as np
import pytest

import d5

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md").read_text()
SECTION = PAGE[PAGE.index("### Ten lines each") : PAGE.index("### All of them")]


@pytest.fixture(scope="module")
def written():
    names = {"d5": d5, "np": np}
    *parts, use = re.findall(r"```python\n(.*?)```", SECTION, re.S)
    assert len(parts) == 5
    for part in parts:
        assert len(re.findall(r"^\s*\S", part, re.M)) <= 13, part
        exec(part, names)
    exec(use, names)
    return names


def triple():
    network = d5.Network("triple")
    network.add_input("x", "float32", [2])
    network.add_node("Triple", ["x"], ["y"], domain="org.example")
    network.add_output("y")
    return network


def test_the_operator_is_right_forward_and_backward(written):
    rows = d5.check_operator("org.example.Triple 2x3")
    # Forward is its own judge: the gradient is what is checked.
    assert [(row.conditions["test"], row.status) for row in rows] == [("forward", "skipped"), ("gradient", "passed")]
    executor = d5.executor(triple())
    assert executor.inference({"x": np.array([1, 2], np.float32)})["y"].numpy().tolist() == [3, 6]


def test_the_optimizer_is_momentum(written):
    rows, _ = d5.check_optimizer("my-momentum", against="momentum:learning_rate=0.1", steps=4)
    assert rows and {row.status for row in rows} == {"passed"}


def test_the_data_set_the_metric_and_the_scheme_train(written):
    data = d5.dataset("two-moons").train
    assert len(data) == 1000 and data[3]["label"].numpy() == 1

    network = d5.model("mlp", seed=1, with_loss=True)
    optimizer = d5.optimizer("my-momentum", d5.executor(network), learning_rate=0.1)
    scheme = d5.distributed_optimizer("averaged", optimizer)
    fed = d5.random_inputs(network, batch=8)
    losses = [scheme.step(fed)["loss"].numpy().item() for _ in range(5)]
    assert losses[-1] < losses[0]
    assert "spread-of-scores" in d5.metrics()
