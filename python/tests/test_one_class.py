# SPDX-License-Identifier: Apache-2.0
"""One class a concept, parts in C++ and in Python alike."""

from typing import Any

import numpy as np
import pytest

import d5


def executor():
    return d5.executor(d5.model("lenet", with_loss=True, seed=1))


def test_parts_in_cpp_are_of_the_classes_that_python_derives_from():
    adam = d5.optimizer("adam", executor())
    scheme = d5.distributed_optimizer("consistent_decentralized", d5.optimizer("sgd", executor()))
    accuracy = d5.training_metric("test_accuracy")
    assert isinstance(adam, d5.Optimizer) and isinstance(adam, d5.ThreeStepOptimizer)
    assert not isinstance(adam, d5.DistributedOptimizer)
    assert isinstance(scheme, d5.DistributedOptimizer) and isinstance(scheme, d5.Optimizer)
    assert isinstance(d5.schedule("cosine", length=10), d5.Schedule)
    assert isinstance(accuracy, d5.Metric) and isinstance(accuracy, d5.Event)
    data = d5.tensor_dataset({"x": np.zeros(4, np.float32)})
    assert isinstance(data, d5.Dataset) and isinstance(d5.sampler("ordered", data), d5.Sampler)


def test_parts_in_python_are_of_them_too_and_so_is_what_they_become():
    class Sgd(d5.ThreeStepOptimizer):
        def update_rule(self, gradient, parameter):
            return parameter.value - 0.1 * gradient

    class Flat(d5.Schedule):
        def at(self, time, initial):
            return initial

    class Spread(d5.Metric):
        def after_batch(self, trainer, batch, outputs):
            self.samples.append(1.0)

    sgd = Sgd()
    assert isinstance(sgd, d5.Optimizer) and isinstance(d5.optimizer(sgd, executor()), d5.ThreeStepOptimizer)
    assert isinstance(Flat(), d5.Schedule) and isinstance(Spread(), d5.Event)
    assert isinstance(d5.training_metric(Spread()), d5.Metric)


def test_what_trains_a_network_is_no_rule_for_another():
    with pytest.raises(d5.TypeError, match="already trains its own network"):
        d5.optimizer(d5.optimizer("sgd", executor()), executor())


def test_an_optimizers_step_can_be_made_of_its_parts():
    batches = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=8)
    whole: Any
    parts: Any
    whole, parts = (d5.optimizer("momentum", executor(), modifiers=["clip_norm"]) for _ in range(2))
    for batch, _ in zip(batches, range(3)):
        expected = whole.step(batch)["loss"].item()
        parts.begin_step(batch)
        assert parts.run_gradients(batch)["loss"].item() == expected
        assert parts.begin_updates()
        for i, parameter in enumerate(parts.network.parameters):
            parts.update(i)
        parts.end_step()
    for ours, theirs in zip(parts.network.parameters, whole.network.parameters):
        np.testing.assert_array_equal(ours.value, theirs.value)
    with pytest.raises(d5.ValueError):
        parts.update(0)


class Momentum(d5.ThreeStepOptimizer):
    """v <- 0.9 v + g, w <- w - r v."""

    def __init__(self, learning_rate: float = 0.01):
        self.learning_rate = learning_rate

    def update_rule(self, gradient, parameter):
        assert parameter.name in [one.name for one in self.network.parameters]
        velocity = 0.9 * self.state.get(parameter.name, 0) + gradient
        self.state[parameter.name] = velocity
        return parameter.value - self.learning_rate * velocity


def test_three_steps_in_python_are_those_in_cpp(tmp_path):
    batches = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=8)
    rule = Momentum()
    with pytest.raises(d5.ValueError, match="Momentum trains nothing yet"):
        rule.executor
    ours = d5.optimizer(rule, executor())
    theirs = d5.optimizer("momentum", executor(), learning_rate=0.01, momentum=0.9)
    assert rule.executor is ours.executor and rule.network is ours.network
    assert ours.hyper_parameters == {"learning_rate": 0.01}
    for batch, _ in zip(batches, range(5)):
        np.testing.assert_allclose(ours.step(batch)["loss"], theirs.step(batch)["loss"], rtol=1e-5)
    # Its state holds what it remembers, and a rule with that state continues with the same bits.
    state = ours.state()
    assert any("conv1" in name for name in state)
    again, network = Momentum(), d5.model("lenet", with_loss=True, seed=1)
    for mine, its in zip(network.parameters, ours.network.parameters):
        mine.value = its.value
    resumed = d5.optimizer(again, d5.executor(network))
    resumed.restore(state)
    batch = next(batches)
    assert resumed.step(batch)["loss"].item() == ours.step(batch)["loss"].item()
    for mine, its in zip(network.parameters, ours.network.parameters):
        np.testing.assert_array_equal(mine.value, its.value)


def test_a_state_in_dicts_comes_back_as_it_was():
    from d5._state import flat, nested

    state = {"t": 3, "a/b%": {"y": np.arange(2.0), "squares": 0.5}}
    assert set(flat(state, "x")) == {"t", "a%2Fb%25/y", "a%2Fb%25/squares"}
    back = nested({name: d5.Tensor(np.asarray(value)) for name, value in flat(state, "x").items()})
    assert back["t"] == 3 and back["a/b%"]["squares"] == 0.5 and back["a/b%"]["y"].tolist() == [0, 1]
    with pytest.raises(d5.ValueError, match="x: its state has the key 3"):
        flat({3: 1}, "x")


@pytest.mark.parametrize(
    "returned, error, words",
    [
        (np.zeros(3, np.float32), d5.ShapeError, "it returned float32 3 for parameter"),
        ("word", d5.Error, "str|string"),
        ([None], d5.TypeError, "None"),
    ],
)
def test_what_a_rule_returns_is_judged(returned, error, words):
    class Wrong(d5.ThreeStepOptimizer):
        def update_rule(self, gradient, parameter):
            return returned

    batch = {"image": np.zeros((2, 1, 28, 28), np.float32), "label": np.zeros(2, np.int64)}
    with pytest.raises(error, match=words):
        d5.optimizer(Wrong(), executor()).step(batch)


def test_a_rule_without_a_rule_is_refused():
    class Empty(d5.ThreeStepOptimizer):
        pass

    with pytest.raises(d5.TypeError, match="Empty has no method update_rule"):
        d5.optimizer(Empty(), executor())
