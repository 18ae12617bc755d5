# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call"
"""A network's tensors in torch, in the network's memory; and those that torch moved elsewhere."""

from __future__ import annotations

import weakref
from typing import Callable, Sequence

import torch
from torch.utils.dlpack import from_dlpack

import d5
from d5.errors import ShapeError, TypeError, Unsupported

_STATISTICS = slice(3, 5)  # inputs of BatchNormalization


def statistics_of(network: d5.Network) -> list[str]:
    """Names of the running means and variances, which training updates and no optimizer does."""
    parameters = {one.name for one in network.parameters}
    found = [
        name
        for node in network.nodes
        if node.op_type == "BatchNormalization" and not node.domain
        for name in node.inputs[_STATISTICS]
        if name not in parameters and name not in network.input_names and network.producer(name) is None
    ]
    return list(dict.fromkeys(found))


_STATE = ("a frozen parameter", "a buffer of the module that was exported", "constant in the network that was saved")


def constants_of(network: d5.Network) -> list[str]:
    """Names of the constants that were parameters or buffers of a module."""
    statistics = set(statistics_of(network))
    reasons = network.parameter_notes.constants
    return [name for name, why in reasons.items() if why in _STATE and name not in statistics]


class NetworkMemory:
    """Parameters, statistics and constants of a network, as torch's tensors over the network's memory."""

    def __init__(self, network: d5.Network) -> None:
        self.parameters = [one.name for one in network.parameters]
        self.constants = constants_of(network)
        buffers = [*statistics_of(network), *self.constants]
        self.names = [*self.parameters, *buffers]
        values = [*(one.value for one in network.parameters), *map(network.fetch, buffers)]
        self.views: list[torch.Tensor] = [from_dlpack(one) for one in values]
        self._living: list[Callable[[], torch.Tensor | None]] = [lambda: None for _ in self.views]

    def live(self, tensors: Sequence[torch.Tensor]) -> None:
        """Says which of torch's tensors are in the memory from now on."""
        self._living = [weakref.ref(one) for one in tensors]

    def take_in(self, tensors: Sequence[torch.Tensor]) -> None:
        """Copies tensors that are elsewhere into the memory: the network computes with theirs."""
        for place, (name, view, tensor) in enumerate(zip(self.names, self.views, tensors)):
            if _is_same(view, tensor):
                continue
            _expect_alike(name, view, tensor)
            former = self._living[place]()
            if former is not None and former is not tensor and _is_same(view, former):
                former.data = former.detach().clone()  # torch's functional_call puts it back
            view.data.copy_(tensor.detach())  # which is no change of a tensor that autograd saved

    def give_back(self, tensors: Sequence[torch.Tensor]) -> None:
        """Copies statistics that training updated to tensors that are elsewhere."""
        first = len(self.parameters)
        with torch.no_grad():
            for view, tensor in zip(self.views[first:], tensors[first:]):
                if not _is_same(view, tensor):
                    tensor.copy_(view)


def _is_same(view: torch.Tensor, tensor: torch.Tensor) -> bool:
    return (
        tensor.data_ptr() == view.data_ptr()
        and tensor.dtype == view.dtype
        and tensor.shape == view.shape
        and tensor.stride() == view.stride()
    )


def _expect_alike(name: str, view: torch.Tensor, tensor: torch.Tensor) -> None:
    if tensor.device.type != "cpu":
        raise Unsupported(f"the module's '{name}' is on {tensor.device}; d5's executors take tensors of cpu here")
    if tensor.dtype != view.dtype:
        raise TypeError(
            f"the module's '{name}' is {tensor.dtype}, but its network has {view.dtype}; convert it back, as by "
            "module.float(), or make the module of a network of that type (network.apply('half-precision'))"
        )
    if tensor.shape != view.shape:
        raise ShapeError(f"the module's '{name}' is {list(tensor.shape)}, but its network has {list(view.shape)}")
