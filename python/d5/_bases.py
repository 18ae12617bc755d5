# SPDX-License-Identifier: Apache-2.0
"""What users derive from, and the decorator that names an operator."""

from __future__ import annotations

import abc
from typing import Any, Callable, TypeVar

from d5._d5 import (
    Batch,
    BoundOptimizer,
    BoundSchedule,
    BoundThreeStepOptimizer,
    CommunicationInfo,
    GradContext,
    GradientSource,
    GraphExecutor,
    InferContext,
    NativeEvent,
    Network,
    OpContext,
    Parameter,
    StepInfo,
    Tensor,
    Trainer,
    TrainingMetric,
    register_operator,
)
from d5._isolation import remember_class
from d5.errors import ValueError


class Operator:
    """Base of an operator written in Python; `attributes` holds its node's.

    `infer(context)` returns one (dtype, shape) an output; left out, the output is like input 0.
    `forward` writes the outputs in place, `backward` the input gradients that `wants_grad`.
    `flop(context)`, if there is one, gets what `infer` gets and returns the arithmetic of a forward
    run.
    """

    attributes: dict[str, Any] = {}

    def forward(self, context: OpContext) -> None:
        raise NotImplementedError

    def backward(self, context: GradContext) -> None:
        raise NotImplementedError


class Event(metaclass=abc.ABCMeta):
    """An observer. Base of one written in Python: override the hooks of interest."""

    def before_run(self, direction: str) -> None: ...
    def after_run(self, direction: str) -> None: ...
    def before_pass(self, direction: str) -> None: ...
    def after_pass(self, direction: str) -> None: ...
    def before_node(self, step: StepInfo) -> None: ...
    def after_node(self, step: StepInfo) -> None: ...
    def before_nested_node(self, step: StepInfo) -> None: ...
    def after_nested_node(self, step: StepInfo) -> None: ...
    def gradient_ready(self, parameter: Parameter, index: int) -> None: ...
    def before_training(self, trainer: Trainer) -> None: ...
    def after_training(self, trainer: Trainer) -> None: ...
    def before_epoch(self, trainer: Trainer, epoch: int) -> None: ...
    def after_epoch(self, trainer: Trainer, epoch: int) -> None: ...
    def before_batch(self, trainer: Trainer, batch: Batch) -> None: ...
    def after_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None: ...
    def before_test(self, trainer: Trainer) -> None: ...
    def after_test(self, trainer: Trainer) -> None: ...
    def after_test_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None:
        """Each batch of a test run. On several ranks all of them on each: whoever has this hook
        keeps ranks from testing a part each.
        """

    def after_checkpoint(self, trainer: Trainer, path: str) -> None: ...
    def before_call(self, call: CommunicationInfo) -> None: ...
    def after_call(self, call: CommunicationInfo) -> None:
        """When a communicator's call returns (`Communicator.add_event`); what was started may still
        be under way."""

    def call_complete(self, call: CommunicationInfo) -> None:
        """When this rank learns that it is complete."""

    def before_wait(self, call: CommunicationInfo) -> None: ...
    def after_wait(self, call: CommunicationInfo) -> None: ...

    def wants_stop(self) -> bool:
        """Asked after every batch and every epoch; True ends training there. On several ranks asked
        after every epoch, and one rank's wish ends training on all."""
        return False


MetricType = TypeVar("MetricType", bound="Metric")


class Metric(Event):
    """Base of a metric written in Python: hooks of training (or `begin`, `end` and `sample` around
    each run of what is measured) append to `samples`.

        class Spread(d5.Metric):
            name = "logit_spread"

            def after_batch(self, trainer, batch, outputs):
                self.samples.append(outputs["logits"].numpy().std())

    The class says what a record says: its SI `unit`; `quantity`: time, energy, bytes, rate, count,
    share, ratio, loss, accuracy, error or other; the `statistic` that stands for the samples: median,
    p99, mean, maximum, rate, share, last, best or single; and how records of several ranks become
    one. A checkpoint keeps the samples, and what `state` gives, a dict of arrays: all that is counted
    between two samples, for an epoch that is resumed in its middle has no `before_epoch`.
    """

    name: str = "python"
    unit: str = "1"
    quantity: str = "other"
    direction: str = "lower_is_better"
    statistic: str = "last"
    over_ranks: str = "apart"
    samples: list[float]

    def __new__(cls: type[MetricType], *arguments: Any, **keywords: Any) -> MetricType:
        made = super().__new__(cls)
        made.samples = []
        return made

    def begin(self, repetitions: int) -> None: ...
    def end(self) -> None: ...
    def sample(self, seconds: float) -> None: ...

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


class Optimizer(metaclass=abc.ABCMeta):
    """What trains a network: all that `d5.optimizer` makes. Base of one written in Python:
    `update_rule` changes `parameter.value` in place.

    `state` and `restore` are what a checkpoint keeps and gives back: a dict of arrays, empty for a
    rule that remembers nothing.

    Numbers that `__init__` takes, and keeps under their own names, are hyper-parameters: schedules
    change these attributes before a step.

        class Sgd(d5.Optimizer):
            def __init__(self, learning_rate: float = 0.01):
                self.learning_rate = learning_rate
    """

    def new_input(self) -> None: ...
    def prepare_param(self, parameter: Parameter) -> None: ...

    def update_rule(self, *arguments: Any, **keywords: Any) -> Any:
        """`update_rule(gradient, parameter, index)`, once a parameter and step."""
        raise NotImplementedError

    def update(self, gradients: GradientSource) -> None:
        """In place of `update_rule`, once a step with all gradients final: changes all parameters,
        and may ask for gradients and losses at other places.
        """
        raise NotImplementedError

    def begin_test(self) -> None:
        """Before each test run, which may be made with other parameters, such as an average."""

    def end_test(self) -> None:
        """After it: the parameters are the trained ones again, bit for bit."""

    def state(self) -> dict[str, Any]:
        raise NotImplementedError

    def restore(self, state: dict[str, Any]) -> None:
        raise NotImplementedError


class ThreeStepOptimizer(Optimizer):
    """Base of an optimizer in three steps, as the Deep500 paper writes it: what happens before a
    batch, before a parameter is read, and how a gradient changes a parameter.

        class Momentum(d5.ThreeStepOptimizer):
            def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9):
                self.learning_rate, self.momentum = learning_rate, momentum

            def update_rule(self, gradient, parameter):
                velocity = self.momentum * self.state.get(parameter.name, 0) + gradient
                self.state[parameter.name] = velocity
                return parameter.value - self.learning_rate * velocity

        optimizer = d5.optimizer(Momentum(), executor)

    What `prepare_param` and `update_rule` return becomes the parameter's value; None leaves what
    they wrote in place. `state` is a dict of arrays and numbers, in dicts of them by names as it is
    convenient; checkpoints keep it. `executor` and `network` are those that it trains.
    """

    state: dict[str, Any]  # type: ignore[assignment]
    _executor: GraphExecutor | None = None

    def __new__(cls, *arguments: Any, **keywords: Any) -> ThreeStepOptimizer:
        made = super().__new__(cls)
        made.state = {}
        return made

    def new_input(self) -> None: ...

    def prepare_param(self, parameter: Parameter) -> Any:
        """Before the forward run, once a parameter and step."""

    def update_rule(self, gradient: Tensor, parameter: Parameter) -> Any:
        """Once a parameter and step, with its final gradient."""
        raise NotImplementedError

    @property
    def executor(self) -> GraphExecutor:
        if self._executor is None:
            raise ValueError(
                f"{type(self).__name__} trains nothing yet; d5.optimizer(it, executor) makes it train a network"
            )
        return self._executor

    @property
    def network(self) -> Network:
        return self.executor.network


class UpdateRule:
    """Base of an optimizer's rule written in Python: a formula of one parameter, its gradient and
    what is remembered of it. d5 keeps what it remembers, in checkpoints too; it works with groups of
    parameters, with parameters of 16 bits, whose master in float32 it is given, and as a node of a
    `d5.StepGraph`.

        @d5.register("my-momentum")
        class Momentum(d5.UpdateRule):
            slots = ("velocity",)

            def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9):
                self.learning_rate, self.momentum = learning_rate, momentum

            def update(self, gradient, value, velocity):
                velocity *= self.momentum
                velocity += gradient
                value -= self.learning_rate * velocity

        optimizer = d5.optimizer("my-momentum", executor, groups=[{"name": "*.bias", "momentum": 0.0}])

    `slots` names what it remembers of a parameter, zero before the first step; `numbers` what it
    carries from step to step besides.
    """

    slots: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def slot_shape(self, slot: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Of a parameter of that shape."""
        return shape

    def begin_step(self, step: int, numbers: dict[str, float]) -> None:
        """Once a step, which counts from 1; makes `numbers` those after it."""

    def update(self, gradient: Tensor, value: Tensor, *slots: Tensor) -> None:
        """Once a parameter and step: writes the value and the slots in place. Float32, or float64
        where the parameter is; all are lent for the call."""
        raise NotImplementedError


class StepModifier:
    """Base of what takes part in an optimizer's steps, written in Python; given as `modifiers` to
    `d5.optimizer`. `name` is the word under which a checkpoint keeps its `state`.
    """

    name = "python"

    def before_step(self, optimizer: BoundOptimizer, epoch: int) -> None:
        """Before anything else of a step, such as `optimizer.set_hyper_parameter`."""

    def loss_factor(self) -> float:
        """On the loss of this step; the gradients are divided by it before they are used."""
        return 1.0

    def gradients_final(self, optimizer: BoundOptimizer, factor: float) -> bool | None:
        """With all gradients final, which count `factor` times and may be changed in place:
        `optimizer.network.parameters[0].gradient`. False refuses the step.
        """

    def after_step(self, optimizer: BoundOptimizer, outputs: dict[str, Any]) -> None:
        """After the update, with the network's outputs."""

    def begin_test(self, optimizer: BoundOptimizer) -> None:
        """Before each test run, which may be made with other parameters, such as an average."""

    def end_test(self, optimizer: BoundOptimizer) -> None:
        """After it: the parameters are the trained ones again, bit for bit."""

    def tested(self, optimizer: BoundOptimizer, loss: float) -> None:
        """After each test run, with its mean loss over all ranks."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


class Schedule(metaclass=abc.ABCMeta):
    """What a hyper-parameter is at each time. Base of one written in Python: `at` says it, and time
    counts steps, or epochs where `every` is "epoch".

    One whose `observes` is "training_loss" or "test_loss" is told these, and has a `state`.
    """

    every: str = "step"
    observes: str = "nothing"

    def at(self, time: int, initial: float) -> float:
        raise NotImplementedError

    def observe(self, loss: float) -> None: ...

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


# One class a concept: parts in C++ are of the classes that parts in Python derive from.
Event.register(NativeEvent)
Metric.register(TrainingMetric)
Optimizer.register(BoundOptimizer)
ThreeStepOptimizer.register(BoundThreeStepOptimizer)
Schedule.register(BoundSchedule)


OperatorClass = TypeVar("OperatorClass", bound=type[Operator])


def operator(name: str, domain: str = "", since: int = 1) -> Callable[[OperatorClass], OperatorClass]:
    """Class decorator: makes the class a custom operator, which networks of every framework run.

        @d5.operator("Triple", domain="org.example")
        class Triple(d5.Operator):
            def forward(self, context):
                context.output(0).numpy()[...] = 3 * context.input(0).numpy()

    Done again under the same name, as a notebook's cell is, the new class takes the old one's
    place in executors that are made from then on.
    """

    def register(operator_class: OperatorClass) -> OperatorClass:
        register_operator(operator_class, name, domain, since)
        remember_class(f"{domain}.{name}" if domain else name, operator_class)
        return operator_class

    return register
