# SPDX-License-Identifier: Apache-2.0
"""What users derive from, and the decorator that names an operator."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from d5._d5 import (
    Batch,
    BoundOptimizer,
    GradContext,
    InferContext,
    OpContext,
    Parameter,
    StepInfo,
    Tensor,
    Trainer,
    register_operator,
)
from d5._isolation import remember_class


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


class Event:
    """Base of an observer written in Python: override the hooks of interest."""

    def before_run(self, direction: str) -> None: ...
    def after_run(self, direction: str) -> None: ...
    def before_pass(self, direction: str) -> None: ...
    def after_pass(self, direction: str) -> None: ...
    def before_node(self, step: StepInfo) -> None: ...
    def after_node(self, step: StepInfo) -> None: ...
    def gradient_ready(self, parameter: Parameter, index: int) -> None: ...
    def before_training(self, trainer: Trainer) -> None: ...
    def after_training(self, trainer: Trainer) -> None: ...
    def before_epoch(self, trainer: Trainer, epoch: int) -> None: ...
    def after_epoch(self, trainer: Trainer, epoch: int) -> None: ...
    def before_batch(self, trainer: Trainer, batch: Batch) -> None: ...
    def after_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None: ...
    def before_test(self, trainer: Trainer) -> None: ...
    def after_test(self, trainer: Trainer) -> None: ...
    def after_test_batch(self, trainer: Trainer, batch: Batch, outputs: dict[str, Any]) -> None: ...

    def wants_stop(self) -> bool:
        return False


class Optimizer:
    """Base of an optimizer written in Python: `update_rule` changes `parameter.value` in place.

    `state` and `restore` are what a checkpoint keeps and gives back: a dict of arrays, empty for a
    rule that remembers nothing.
    """

    def new_input(self) -> None: ...
    def prepare_param(self, parameter: Parameter) -> None: ...

    def update_rule(self, gradient: Tensor, parameter: Parameter, index: int) -> None:
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        raise NotImplementedError

    def restore(self, state: dict[str, Any]) -> None:
        raise NotImplementedError


class StepModifier:
    """Base of what takes part in an optimizer's steps, written in Python; given as `modifiers` to
    `d5.optimizer`. `name` is the word under which a checkpoint keeps its `state`.
    """

    name = "python"

    def before_step(self, optimizer: BoundOptimizer, epoch: int) -> None:
        """Before anything else of a step, such as `optimizer.set_hyper_parameter`."""

    def gradients_final(self, optimizer: BoundOptimizer, factor: float) -> bool | None:
        """With all gradients final, which count `factor` times and may be changed in place:
        `optimizer.network.parameters()[0].gradient`. False refuses the step.
        """

    def after_step(self, optimizer: BoundOptimizer, outputs: dict[str, Any]) -> None:
        """After the update, with the network's outputs."""

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: dict[str, Any]) -> None: ...


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
