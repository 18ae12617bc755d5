# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-call"
"""A torch.optim optimizer as one of d5's."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from d5._bases import Optimizer as _Optimizer
from d5._d5 import GradientSource, GraphExecutor
from d5._nearest import expect_known
from d5._parameters import shown
from d5._state import flat, nested
from d5.errors import FormatError, TypeError


class Optimizer(_Optimizer):
    """A class of torch.optim, over d5's parameters and gradients: `Optimizer(torch.optim.AdamW,
    learning_rate=1e-3, weight_decay=0.1)`. d5's schedules change `learning_rate`; checkpoints store
    its state. Each training takes an object of its own.
    """

    _executor: GraphExecutor | None = None

    def __init__(self, kind: type[torch.optim.Optimizer], learning_rate: float = 0.01, **options: Any) -> None:
        if not (isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)):
            made = type(kind).__name__ if isinstance(kind, torch.optim.Optimizer) else "Adam"
            raise TypeError(
                f"d5.torch.Optimizer: kind is {shown(kind)}, expected a class and its options: "
                f"d5.torch.Optimizer(torch.optim.{made}, learning_rate=...)"
            )
        known = inspect.signature(kind).parameters.values()
        if not any(one.kind is one.VAR_KEYWORD for one in known):
            names = [one.name for one in known if one.name not in ("params", "lr")]
            for name in options:
                expect_known(f"d5.torch.Optimizer({kind.__name__})", "keyword", name, ["learning_rate", *names])
        self.kind, self.learning_rate, self.options = kind, float(learning_rate), options
        closure = inspect.signature(kind.step).parameters.get("closure")
        self._runs_again = closure is not None and closure.default is inspect.Parameter.empty
        self._optimizer: torch.optim.Optimizer | None = None
        self._restored: dict[str, Any] = {}

    def update(self, gradients: GradientSource) -> None:
        parameters = list(gradients.network.parameters)
        if self._optimizer is None:
            views = [torch.nn.Parameter(from_dlpack(one.value)) for one in parameters]
            self._optimizer = self.kind(views, lr=self.learning_rate, **self.options)  # type: ignore[call-arg]
            self._load()
        for view, one in zip(self._optimizer.param_groups[0]["params"], parameters):
            view.grad = from_dlpack(one.gradient)
        self._optimizer.param_groups[0]["lr"] = self.learning_rate

        def again() -> float:
            gradients.run()
            return gradients.loss()

        if self._runs_again:  # as LBFGS does
            self._optimizer.step(again)
        else:
            self._optimizer.step()

    def state(self) -> dict[str, Any]:
        if self._optimizer is None:
            return dict(self._restored)
        state = self._optimizer.state_dict()["state"]
        names = {str(i): {key: value for key, value in one.items() if value is not None} for i, one in state.items()}
        return flat(names, self.kind.__name__)

    def restore(self, state: dict[str, Any]) -> None:
        self._restored = dict(state)
        if self._optimizer is not None:
            self._load()

    def _load(self) -> None:
        assert self._optimizer is not None
        if not self._restored:
            return
        whole = self._optimizer.state_dict()
        whole["state"] = {
            int(i): {key: torch.as_tensor(value) for key, value in one.items()}
            for i, one in nested(self._restored).items()
        }
        try:
            self._optimizer.load_state_dict(whole)
        except (KeyError, RuntimeError, ValueError) as error:
            raise FormatError(f"{self.kind.__name__} did not take over its state: {error}") from error
        self._restored = {}

