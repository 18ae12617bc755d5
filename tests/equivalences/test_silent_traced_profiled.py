# SPDX-License-Identifier: Apache-2.0
"""What is watched (a trace, a profile, metrics, a report of the run) computes what it computes unwatched."""

import numpy
import pytest
from drawn_networks import drawn_network

WATCHED = (
    ("--trace", "trace.json"),
    ("--metrics", "peak_memory,epoch_time"),
)


def learnt(records):
    """Numbers of a training that no clock decides."""
    return {
        (m["metric"], m["conditions"]["identity"].get("rank", "")): m["samples"]
        for m in records
        if m["quantity"] in ("loss", "accuracy")
    }


def test_answers(d5, draw):
    model = drawn_network(draw, d5.folder / "drawn.onnx")
    plain = d5.outputs(model, "--seed", "3")
    traced = d5.outputs(model, "--seed", "3", "--trace", "trace.json")
    assert all(numpy.array_equal(plain[name], traced[name]) for name in plain)


@pytest.mark.parametrize("ranks", ((), ("--ranks", "2")))
def test_training(d5, ranks):
    words = ("train", "mnist-lenet-quick", "--set", "training.epochs=1", "--set", "training.most_batches=8", "--threads", 1)
    words += ranks
    some = (0, 1)  # eight batches reach no accuracy
    plain = learnt(d5.records(*words, status=some))
    assert plain
    for how in WATCHED:
        watched = learnt(d5.records(*words, *how, status=some))
        assert {name: watched[name] for name in plain} == plain, how
