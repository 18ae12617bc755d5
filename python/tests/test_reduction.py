# SPDX-License-Identifier: Apache-2.0
"""What differs, made small: networks to a few nodes, operators to the smallest case."""

import os
import signal

import d5
import numpy as np
import pytest


class Leaky(d5.Kernel):
    """Right, but for rows that are wider than 4."""

    def __init__(self, plan):
        self.wide = plan.shape(0)[-1] > 4

    def forward(self, inputs):
        return np.maximum(inputs[0].numpy(), 0) + (1 if self.wide else 0)


class Crashing(d5.Kernel):
    def __init__(self, plan):
        pass

    def forward(self, inputs):
        os.kill(os.getpid(), signal.SIGSEGV)


@d5.register
class Faulty(d5.Framework):
    name = "faulty"
    version = "1"
    kernels = {"Relu": Leaky, "Sigmoid": Crashing}


def chain(inner="Relu"):
    network = d5.Network("chain")
    network.add_input("x", "float32", [3, 16])
    before = "x"
    for i, op in enumerate(["Tanh", "Softplus", inner, "Tanh", "Softplus"]):
        network.add_node(op, [before], [f"y{i}"])
        before = f"y{i}"
    network.add_output(before)
    return network


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "chain.onnx"
    chain().save(path)
    return path


def reduce_chain(model, folder, **how):
    return d5.reduce(model, framework="faulty+reference", folder=folder, **how)


def test_a_network_is_reduced_to_the_node_that_differs(model, tmp_path):
    row = reduce_chain(model, tmp_path / "few")
    assert (row.metric, row.samples, row.status) == ("reduced_nodes", [1], "failed")
    assert [node.op_type for node in d5.Network.load(tmp_path / "few/model.onnx").nodes] == ["Relu"]
    assert d5.check_network(tmp_path / "few", frameworks=["faulty+reference"])[0].status == "failed"
    again = reduce_chain(model, tmp_path / "few")
    assert again.conditions["tries"] == row.conditions["tries"]


def test_how_far_it_has_come_is_told_after_each_try(model, tmp_path):
    told = []
    row = reduce_chain(model, tmp_path / "few", progress=lambda *now: told.append(now))
    nodes, tries, seconds = zip(*told)
    assert nodes[-1] == 1 and sorted(nodes, reverse=True) == list(nodes)
    assert tries == tuple(range(1, row.conditions["tries"] + 1))
    assert list(seconds) == sorted(seconds)


def test_what_progress_raises_ends_the_reduction(model, tmp_path):
    def stop(nodes, tries, seconds):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        reduce_chain(model, tmp_path / "few", progress=stop)


def test_a_folder_of_something_else_is_refused(model, tmp_path):
    with pytest.raises(d5.IoError, match="holds no reduction"):
        reduce_chain(model, tmp_path)
    reduce_chain(model, tmp_path / "few")
    with pytest.raises(d5.ValueError, match="another network, or other inputs"):
        reduce_chain(model, tmp_path / "few", seed=3)


def test_no_difference_leaves_no_folder(model, tmp_path):
    row = d5.reduce(model, framework="reference", folder=tmp_path / "few")
    assert (row.samples, row.status) == ([0], "passed")
    assert not (tmp_path / "few").exists()


def test_a_case_is_reduced_to_the_smallest():
    (row,) = d5.check_operator("Relu 3x16", frameworks=["faulty"], gradient=False, reduce=True)
    assert row.status == "failed"
    assert row.conditions["case"] == "Relu 5"
    assert 'op check "Relu 5"' in row.command.replace("'", '"')
    (row,) = d5.check_operator("Relu 3x4", frameworks=["faulty"], gradient=False, reduce=True)
    assert (row.samples, row.status) == ([0], "passed")


def test_a_crash_is_reduced_where_tries_are_isolated(tmp_path):
    chain("Sigmoid").save(tmp_path / "chain.onnx")
    row = reduce_chain(tmp_path / "chain.onnx", tmp_path / "few", isolate=60)
    assert (row.samples, row.status) == ([1], "failed")
    assert "SIGSEGV" in row.reason
    (row,) = d5.check_operator("Sigmoid 3x4", frameworks=["faulty"], reduce=True, isolate=60)
    assert row.conditions["case"] == "Sigmoid scalar"
    assert "SIGSEGV" in row.reason


def test_the_row_says_what_was_asked_for(model, tmp_path):
    row = reduce_chain(model, tmp_path / "few", seed=5, most_seconds=30)
    assert "--seed 5" in row.command and "--reduce" in row.command
    with pytest.raises(d5.ValueError, match="slower applies to forward only"):
        reduce_chain(model, tmp_path / "none", backward=True, slower=2)
