# SPDX-License-Identifier: Apache-2.0
"""Base classes for parts in Python, and the decorator that names an operator."""

from __future__ import annotations

import abc
import re
from collections.abc import Sequence
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
from d5._nearest import Hooked, knows_its_keywords
from d5._parameters import shown
from d5.errors import TypeError, ValueError


def own_name(made: Callable[..., Any]) -> str:
    """The name of a class or function in lower case: "half_batch" of HalfBatch."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", getattr(made, "__name__", "")).lower()


class Operator(Hooked):
    """Base class of operators in Python.

    The attributes of its node are the parameters of its `__init__`, by name and with the type of the
    default. A parameter without default is a required attribute; other names are refused.
    Without an `__init__` they are in `attributes`, a dict.

        @d5.operator("Scale", domain="org.example")
        class Scale(d5.Operator):
            def __init__(self, factor: float = 1.0):
                self.factor = factor

            def forward(self, context):
                context.output(0).numpy()[...] = self.factor * context.input(0).numpy()

    Inputs are read-only. `forward` writes the outputs in place, `backward` the input gradients for
    which `wants_grad` holds. A class without `infer` has one output like input 0; `flop` is optional.
    """

    attributes: dict[str, Any] = {}

    def infer(self, context: InferContext) -> Sequence[tuple[Any, Sequence[int]]]:
        """Called while a network is planned: one (dtype, shape) per output."""
        raise NotImplementedError

    def flop(self, context: InferContext) -> float:
        """Number of arithmetic operations of a forward run."""
        raise NotImplementedError

    def forward(self, context: OpContext) -> None:
        """Called once per run: writes the outputs in place."""
        raise NotImplementedError

    def backward(self, context: GradContext) -> None:
        """Called once per backward run: writes the input gradients for which `wants_grad` holds."""
        raise NotImplementedError


class Event(Hooked, metaclass=abc.ABCMeta):
    """An observer. Base class of observers in Python: override the hooks of interest.

    `add_event` of three classes takes it, and each calls its own hooks:

    `Trainer.add_event`, and `d5.train(events=[...])`: the hooks of training, those with `training`,
    `epoch`, `batch`, `test`, `checkpoint` in their names, and `wants_stop`; and all hooks of the
    trainer's executor.

    `GraphExecutor.add_event`: `before_run`, `after_run`, `before_pass`, `after_pass`, the hooks of
    nodes, and `gradient_ready`.

    `Communicator.add_event`: `before_call`, `after_call`, `call_complete`, `before_wait`,
    `after_wait`.
    """

    def before_run(self, direction: str) -> None:
        """Called before each run; that of `inference_and_backprop` is "backward" as a whole."""

    def after_run(self, direction: str) -> None:
        """Called after each run."""

    def before_pass(self, direction: str) -> None:
        """Called before each pass of a run: one, or "forward" and then "backward"."""

    def after_pass(self, direction: str) -> None:
        """Called after each pass."""

    def before_node(self, step: StepInfo) -> None:
        """Called before each step of the plan: a node, forward or backward."""

    def after_node(self, step: StepInfo) -> None:
        """Called after each step of the plan. Work of a device may still be in progress."""

    def before_nested_node(self, step: StepInfo) -> None:
        """Called before each step of a graph within a node, such as an If, between that node's hooks."""

    def after_nested_node(self, step: StepInfo) -> None:
        """Called after each step of a graph within a node."""

    def gradient_ready(self, parameter: Parameter, index: int) -> None:
        """Called once per parameter and run, as soon as its gradient is final; `index` is its place in
        `network.parameters`.
        """

    def before_training(self, trainer: Trainer) -> None:
        """Called before the first batch, on every rank."""

    def after_training(self, trainer: Trainer) -> None:
        """Called after the last batch and test run."""

    def before_epoch(self, trainer: Trainer, epoch: int) -> None:
        """Called before an epoch; not again for one that is resumed in its middle."""

    def after_epoch(self, trainer: Trainer, epoch: int) -> None:
        """Called after an epoch's last batch and test run."""

    def before_batch(self, trainer: Trainer, batch: Batch) -> None:
        """Called before the step of each batch."""

    def after_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None:
        """Called after the step of each batch, with the network's outputs, the loss among them."""

    def before_test(self, trainer: Trainer) -> None:
        """Called before each test run."""

    def after_test(self, trainer: Trainer) -> None:
        """Called after each test run."""

    def after_test_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None:
        """Called after each batch of a test run. On several ranks this hook makes every rank test
        all batches instead of a part.
        """

    def after_checkpoint(self, trainer: Trainer, path: str) -> None:
        """Called after a checkpoint was written to the file `path`."""

    def before_call(self, call: CommunicationInfo) -> None:
        """Called before each call of a communicator (`Communicator.add_event`)."""

    def after_call(self, call: CommunicationInfo) -> None:
        """Called when a communicator's call returns (`Communicator.add_event`). A non-blocking call
        may still be in progress."""

    def call_complete(self, call: CommunicationInfo) -> None:
        """Called when this rank learns that the call is complete."""

    def before_wait(self, call: CommunicationInfo) -> None:
        """Called before each wait for a call that `start_...` returned; `done` does not wait."""

    def after_wait(self, call: CommunicationInfo) -> None:
        """Called after each such wait."""

    def wants_stop(self) -> bool:
        """Called before the first batch, and after every batch and every epoch; True ends training
        there. On several ranks it is called before the first batch and after every epoch, and True on
        one rank ends training on all. An answer that is no flag raises TypeError."""
        return False


MetricType = TypeVar("MetricType", bound="Metric")


class Metric(Event):
    """Base class of metrics in Python. Its hooks append numbers to `samples`, a list.

    In a training, as in `d5.train(metrics=[Spread])` and `trainer.add_event(Spread())`, all hooks of
    `d5.Event` are called but those of a communicator. In `d5.measure`, `begin`, `end` and `sample` are
    called around each run of a subject.

        class Spread(d5.Metric):
            name = "logit_spread"

            def after_batch(self, trainer, batch, outputs):
                self.samples.append(outputs["logits"].numpy().std())

    The record of a training is among the rows of `d5.train`. `d5.training_metric(metric).record()`
    makes it for a trainer's metric, also after the run.

    Class attributes describe the record: its `name`, by default that of the class in small letters
    ("largest_score" of LargestScore); its SI `unit`; `quantity`: time, energy, bytes, rate, count,
    share, ratio, loss, accuracy, error or other; the `statistic` that summarises the samples: median,
    p99, mean, maximum, rate, share, last, best or single; and `over_ranks`, how records of
    several ranks are joined: maximum, sum, mean, or apart, a record for each. A checkpoint stores the samples and the result of `state`, a dict of arrays. `state` must
    hold everything that is counted between two samples, because an epoch that is resumed in its
    middle calls no `before_epoch`.
    """

    name: str = "python"
    unit: str = "1"
    quantity: str = "other"
    direction: str = "lower_is_better"
    statistic: str = "last"
    over_ranks: str = "apart"
    samples: list[float]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        ours = cls.__mro__[: cls.__mro__.index(Metric)]
        if all(vars(one).get("name", own_name(one)) == own_name(one) for one in ours):
            cls.name = own_name(cls)

    def __new__(cls: type[MetricType], *arguments: Any, **keywords: Any) -> MetricType:
        made = super().__new__(cls)
        made.samples = []
        return made

    def begin(self, repetitions: int) -> None:
        """Called right before a run that calls the subject `repetitions` times."""

    def end(self) -> None:
        """Called right after the run, unless the subject raised."""

    def sample(self, seconds: float) -> None:
        """Called after `end`, with the time of one call in s."""

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint, besides `samples`."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint; `samples` are restored already."""


class Optimizer(Hooked, metaclass=abc.ABCMeta):
    """Trains a network: base class of everything that `d5.optimizer` makes, and of optimizers in
    Python, whose `update_rule` changes `parameter.value` in place.

    `state` returns a dict of arrays for a checkpoint, and `restore` takes it; it is empty for a
    rule without memory.

    Numbers that `__init__` takes, and stores under their own names, are hyper-parameters: schedules
    change these attributes before a step.

        class Sgd(d5.Optimizer):
            def __init__(self, learning_rate: float = 0.01):
                self.learning_rate = learning_rate
    """

    def new_input(self) -> None:
        """Called once per step, before anything else."""

    def prepare_param(self, parameter: Parameter) -> None:
        """Called before the forward run, once per parameter and step; may write its value."""

    def update_rule(self, *arguments: Any, **keywords: Any) -> Any:
        """`update_rule(gradient, parameter, index)` is called once per parameter and step."""
        raise NotImplementedError

    def update(self, gradients: GradientSource) -> None:
        """Called instead of `update_rule`, once per step with all gradients final. Changes all
        parameters, and may compute gradients and losses at other points.
        """
        raise NotImplementedError

    def begin_test(self) -> None:
        """Called before each test run, which may use other parameters, such as an average."""

    def end_test(self) -> None:
        """Called after it: restores the trained parameters, bit for bit."""

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint: everything that is carried from step to step."""
        raise NotImplementedError

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint."""
        raise NotImplementedError


class ThreeStepOptimizer(Optimizer):
    """Base class of optimizers in three steps, as in the Deep500 paper: before a batch, before a
    parameter is read, and the update of a parameter by its gradient.

        class Momentum(d5.ThreeStepOptimizer):
            def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9):
                self.learning_rate, self.momentum = learning_rate, momentum

            def update_rule(self, gradient, parameter):
                velocity = self.momentum * self.state.get(parameter.name, 0) + gradient
                self.state[parameter.name] = velocity
                return parameter.value - self.learning_rate * velocity

        optimizer = d5.optimizer(Momentum(), executor)

    The results of `prepare_param` and `update_rule` become the parameter's value; None keeps what
    they wrote in place. `state` is a dict of arrays and numbers, possibly in nested dicts by name;
    checkpoints store it. `executor` and `network` are those of the training.
    """

    state: dict[str, Any]  # type: ignore[assignment]
    _executor: GraphExecutor | None = None

    def __new__(cls, *arguments: Any, **keywords: Any) -> ThreeStepOptimizer:
        made = super().__new__(cls)
        made.state = {}
        return made

    def new_input(self) -> None:
        """Called once per step, before anything else."""

    def prepare_param(self, parameter: Parameter) -> Any:
        """Called before the forward run, once per parameter and step."""

    def update_rule(self, gradient: Tensor, parameter: Parameter) -> Any:
        """Called once per parameter and step, with the final gradient."""
        raise NotImplementedError

    @property
    def executor(self) -> GraphExecutor:
        """The executor that runs the training. Raises ValueError before `d5.optimizer`."""
        if self._executor is None:
            raise ValueError(
                f"{type(self).__name__} trains nothing yet; d5.optimizer(it, executor) makes it train a network"
            )
        return self._executor

    @property
    def network(self) -> Network:
        """The network that is trained. Raises ValueError like `executor`."""
        return self.executor.network


class UpdateRule(Hooked):
    """Base class of update rules in Python: a formula of one parameter, its gradient and its slots.
    d5 stores the slots, in checkpoints too. A rule works with groups of parameters, with 16-bit
    parameters, for which it receives their float32 master copy, and as a node of a `d5.StepGraph`.

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

    `slots` names the tensors that it remembers per parameter, zero before the first step; `numbers`
    names numbers that it carries from step to step.
    """

    slots: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()

    def slot_shape(self, slot: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of a slot for a parameter of that shape."""
        return shape

    def begin_step(self, step: int, numbers: dict[str, float]) -> None:
        """Called once per step, which counts from 1; updates `numbers`."""

    def update(self, gradient: Tensor, value: Tensor, *slots: Tensor) -> None:
        """Called once per parameter and step: writes the value and the slots in place. They are
        float32, or float64 if the parameter is, and lent for the call."""
        raise NotImplementedError


class StepModifier(Hooked):
    """Base class of step modifiers in Python, which are given as `modifiers` to `d5.optimizer`.
    `name` is the word under which a checkpoint stores its `state`.
    """

    name = "python"

    def before_step(self, optimizer: BoundOptimizer, epoch: int) -> None:
        """Called before everything else of a step, for example to set a hyper-parameter."""

    def loss_factor(self) -> float:
        """Factor on the loss of this step; the gradients are divided by it before they are used."""
        return 1.0

    def gradients_final(self, optimizer: BoundOptimizer, factor: float) -> bool | None:
        """Called with all gradients final, scaled by `factor`; they may be changed in place:
        `optimizer.network.parameters[0].gradient`. False refuses the step.
        """

    def after_step(self, optimizer: BoundOptimizer, outputs: dict[str, Any]) -> None:
        """Called after the update, with the network's outputs."""

    def begin_test(self, optimizer: BoundOptimizer) -> None:
        """Called before each test run, which may use other parameters, such as an average."""

    def end_test(self, optimizer: BoundOptimizer) -> None:
        """Called after it: restores the trained parameters, bit for bit."""

    def tested(self, optimizer: BoundOptimizer, loss: float) -> None:
        """Called after each test run, with its mean loss over all ranks."""

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint: everything that is carried from step to step."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint."""


class Schedule(Hooked, metaclass=abc.ABCMeta):
    """The value of a hyper-parameter over time. Base class of schedules in Python, whose `at` returns
    it; time counts steps, or epochs if `every` is "epoch".

    A schedule whose `observes` is "training_loss" or "test_loss" receives these losses, and has a
    `state`.
    """

    every: str = "step"
    observes: str = "nothing"

    def at(self, time: int, initial: float) -> float:
        """Called once per step: the value at `time`, which counts from 0. `initial` is the value without
        a schedule.
        """
        raise NotImplementedError

    def observe(self, loss: float) -> None:
        """Called with each loss that `observes` names, averaged over all ranks."""

    def state(self) -> dict[str, Any]:
        """Arrays by name for a checkpoint, of a schedule that observes losses."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes the result of `state` from a checkpoint."""


# One class per concept: C++ parts are instances of the classes from which Python parts derive.
Event.register(NativeEvent)
Metric.register(TrainingMetric)
Optimizer.register(BoundOptimizer)
ThreeStepOptimizer.register(BoundThreeStepOptimizer)
Schedule.register(BoundSchedule)


OperatorClass = TypeVar("OperatorClass", bound=type[Operator])


@knows_its_keywords
def operator(name: str, domain: str = "", since: int = 1) -> Callable[[OperatorClass], OperatorClass]:
    """Class decorator: registers the class as a custom operator, which networks of every framework run.

        @d5.operator("Triple", domain="org.example")
        class Triple(d5.Operator):
            def forward(self, context):
                context.output(0).numpy()[...] = 3 * context.input(0).numpy()

    Registered again under the same name, as by a notebook's cell, the new class replaces the old one
    in executors that are made later.
    """

    if not name.strip():
        raise ValueError(f"d5.operator: name is {shown(name)}, expected a name, such as 'Triple'")
    if since < 1:
        raise ValueError(f"d5.operator: since is {since}, expected a version of the operator's set, at least 1")

    def register(operator_class: OperatorClass) -> OperatorClass:
        if not isinstance(operator_class, type) or not issubclass(operator_class, Operator):
            raise TypeError(f"d5.operator: {name} is {shown(operator_class)}, expected a class that derives from d5.Operator")
        if operator_class.forward is Operator.forward:
            raise TypeError(f"d5.operator: {name}: class {operator_class.__name__} lacks forward(self, context)")
        register_operator(operator_class, name, domain, since)
        remember_class(f"{domain}.{name}" if domain else name, operator_class)
        return operator_class

    return register
