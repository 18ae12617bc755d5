# SPDX-License-Identifier: Apache-2.0
"""Dicts that d5 gives, and pairs of data sets."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import d5

IMAGE = np.zeros((2, 1, 28, 28), np.float32)


def test_outputs_of_a_run_are_the_callers_dict():
    outputs = d5.executor(d5.model("lenet", seed=1)).inference({"image": IMAGE})
    outputs["mine"] = 1
    assert isinstance(outputs, dict) and set(outputs) == {"logits", "mine"} and outputs.get("logit") is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), dict, lambda one: one | {}])
def test_a_copy_of_conditions_can_be_changed(copied):
    conditions = d5.measure(list)[0].conditions
    mine = copied(conditions)
    assert type(mine) is dict and mine == conditions
    mine["k"] = "v"
    assert "k" not in conditions


@pytest.mark.parametrize("change", ["__setitem__", "__delitem__", "setdefault", "pop", "popitem", "clear", "update", "__ior__"])
def test_no_change_of_a_copy_is_taken(change):
    values = d5.recipe("mnist-lenet-quick").values
    before = dict(values)
    arguments: dict[str, list[Any]] = {
        "__setitem__": ["training.epochs", "9"],
        "popitem": [],
        "clear": [],
        "update": [{}],
        "__ior__": [{}],
    }
    with pytest.raises(TypeError, match="d5.Recipe.values cannot be changed"):
        getattr(values, change)(*arguments.get(change, ["training.epochs"]))
    assert values == before


def test_a_data_set_is_a_pair():
    data = d5.tensor_dataset({"x": np.arange(8.0)})
    train, test = d5.split(data, 0.25, seed=1)
    assert (len(train), len(test)) == (6, 2)


@pytest.mark.parametrize("schedule", ["cosine:length=10", {"name": "cosine", "length": 10}])
def test_a_schedule_is_given_in_words_as_in_a_dict(schedule):
    executor = d5.executor(d5.model("lenet", seed=1, with_loss=True))
    data = d5.tensor_dataset({"image": np.zeros((8, 1, 28, 28), np.float32), "label": np.arange(8)})
    optimizer = d5.optimizer("sgd", executor, learning_rate=0.1, schedules={"learning_rate": schedule})
    d5.Trainer(optimizer, d5.sampler("ordered", data, batch_size=2), most_batches=4).run()
    right = 0.1 * 0.5 * (1 + np.cos(np.pi * 3 / 10))  # the fourth step is the last
    assert optimizer.hyper_parameters["learning_rate"] == pytest.approx(right, rel=1e-12)


def test_a_recipes_schedule_is_given_in_words():
    few = {"training.epochs": 1, "training.most_batches": 3}
    words = {"optimizer.schedules.learning_rate": "cosine:length=10"}
    nested = {"optimizer.schedules.learning_rate": {"name": "cosine", "length": 10}}
    losses = [d5.train("mnist-lenet-quick", overrides=few | one).rows.where(metric="loss")[0].value for one in (words, nested, {})]
    assert losses[0] == losses[1] != losses[2]


def test_a_row_says_that_a_call_made_a_coroutine_alone():
    async def later():
        pass

    row = d5.measure(lambda: later())[0]
    assert row.status == "failed" and "makes a coroutine, whose code does not run" in row.reason


def test_a_failed_querys_reason_is_one_line():
    def answer(sample):
        raise ValueError("no way")

    reason = d5.run_scenario("single_stream", answer, queries=2)[0].reason
    assert "ValueError: no way (test_named_values.py:" in reason and "x0a" not in reason
