# SPDX-License-Identifier: Apache-2.0
"""Python's garbage collector sees through what C++ holds: cycles are freed, what is in use is not."""

import gc
import weakref
from typing import Any, Callable

import numpy as np
import pytest

import d5


def network() -> d5.Network:
    network = d5.Network("product")
    network.add_input("x", "float32", [1, 2])
    network.add_parameter("w", np.ones((1, 2), np.float32))
    network.add_node("Mul", ["x", "w"], ["y"])
    network.add_node("ReduceSum", ["y"], ["loss"])
    network.add_output("loss")
    return network


def sampler() -> d5.Sampler:
    return d5.sampler("ordered", d5.tensor_dataset({"x": np.ones((4, 2), np.float32)}), batch_size=1)


class Hook(d5.Event):
    keeps: Any

    def before_pass(self, direction):
        self.keeps.framework


class Epochs(d5.Event):
    keeps: Any

    def after_epoch(self, trainer, epoch):
        assert trainer is self.keeps


class Losses(d5.Metric):
    def after_batch(self, trainer, batch, outputs):
        self.samples.append(outputs["loss"].numpy().item())


class Sgd(d5.ThreeStepOptimizer):
    keeps: Any

    def update_rule(self, gradient, parameter):
        return parameter.value.numpy() - 0.1 * gradient.numpy()


def hook_of_executor() -> Any:
    hook, executor = Hook(), d5.executor(network())
    executor.add_event(hook)
    hook.keeps = executor
    return hook


def event_of_trainer(event: Any) -> Any:
    trainer = d5.Trainer(d5.optimizer("sgd", d5.executor(network())), sampler())
    trainer.add_event(event)
    event.keeps = trainer
    return event


def rule_of_optimizer() -> Any:
    rule = Sgd()
    rule.keeps = d5.optimizer(rule, d5.executor(network()))
    return rule


def rule_that_keeps_the_trainer() -> Any:
    rule = Sgd()
    rule.keeps = d5.Trainer(d5.optimizer(rule, d5.executor(network())), sampler())
    return rule


MAKERS: list[Callable[[], Any]] = [
    hook_of_executor,
    lambda: event_of_trainer(Epochs()),
    lambda: event_of_trainer(Losses()),
    rule_of_optimizer,
    rule_that_keeps_the_trainer,
]
NAMES = ["hook of an executor", "event of a trainer", "metric of a trainer", "rule of an optimizer", "rule with its trainer"]


@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_a_cycle_is_freed(make):
    freed = [weakref.ref(make()) for _ in range(20)]
    gc.collect()
    assert not [left for left in freed if left() is not None]


@pytest.mark.parametrize("make", MAKERS, ids=NAMES)
def test_what_is_still_used_stays(make):
    kept = make().keeps  # by which the cycle is held
    gc.collect()
    if isinstance(kept, d5.Trainer):
        kept.run()
        assert kept.step == 4
    else:
        step = kept.inference if isinstance(kept, d5.GraphExecutor) else kept.step
        assert step({"x": np.ones((1, 2), np.float32)})["loss"].numpy().item() == 2


def test_a_hook_stays_where_cpp_alone_calls_it():
    calls: list[str] = []

    class Calls(d5.Event):
        keeps: Any

        def before_pass(self, direction):
            calls.append(self.keeps.framework)

    hook, executor = Calls(), d5.executor(network())
    executor.add_event(hook)
    hook.keeps = executor
    optimizer = d5.optimizer("sgd", executor)  # holds the executor, too
    del hook, executor
    gc.collect()
    optimizer.step({"x": np.ones((1, 2), np.float32)})
    assert calls == ["reference", "reference"]


def test_collecting_while_it_trains():
    class Collects(d5.Event):
        def after_batch(self, trainer, batch, outputs):
            self.keeps = trainer
            gc.collect()

    trainer = d5.Trainer(d5.optimizer("sgd", d5.executor(network())), sampler(), epochs=2)
    trainer.add_event(Collects())
    trainer.run()
    assert trainer.step == 8


def test_collecting_while_the_first_object_of_a_class_is_made():
    threshold = gc.get_threshold()
    gc.set_threshold(1)  # at each allocation
    try:
        for _ in range(20):
            executor = type("Mine", (d5.GraphExecutor,), {"framework": "mine"})(network())
            assert executor.framework == "mine"
    finally:
        gc.set_threshold(*threshold)
