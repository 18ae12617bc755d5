# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call"
"""What torch's export may leave out of a module without a word: changes of its buffers, and the size of the batch."""

from __future__ import annotations

from typing import Any, Sequence

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.dlpack import from_dlpack

import d5
from d5._parameters import shown
from d5.errors import Unsupported, ValueError


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def described(one: object) -> str:
    if not isinstance(one, torch.Tensor):
        return shown(one)
    return f"{name_of(one.dtype)} {'x'.join(map(str, one.shape)) or 'scalar'}"


class Held:
    """A module's parameters and buffers as they are now, which `restore` brings back: objects and values."""

    def __init__(self, module: nn.Module) -> None:
        self._places: dict[str, tuple[nn.Module, dict[str, Any], str]] = {}
        self._values: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
        for path, part in module.named_modules():
            for store in (part._parameters, part._buffers):
                for name, one in store.items():
                    if one is not None:
                        whole = f"{path}.{name}" if path else name
                        self._places[whole] = part, store, name
                        self._values[whole] = one, one.detach().clone()

    def restore(self) -> list[str]:
        """Returns the names of those that had changed."""
        changed = []
        for whole, (_, store, name) in self._places.items():
            one, value = self._values[whole]
            now = store.get(name)
            if now is not one or not _is_equal(one.detach(), value):
                changed.append(whole)
                store[name] = one
                with torch.no_grad():
                    one.set_(value) if one.shape != value.shape else one.copy_(value)  # type: ignore[call-overload]
        return changed


def _is_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a.nan_to_num(), b.nan_to_num())


def refuse_changed(changed: list[str], statistics: Sequence[str]) -> None:
    """Raises: Unsupported for a parameter or buffer that the module's forward changed, which no network does but for
    the running `statistics` of batch normalization."""
    kept = {*statistics, *(name.replace("running_mean", "num_batches_tracked") for name in statistics)}
    lost = [name for name in changed if name not in kept]
    if lost:
        raise Unsupported(
            f"d5.torch.network: the module's forward changes '{lost[0]}', and a network keeps running statistics of batch "
            "normalization alone from run to run; a module whose forward changes nothing, as many in eval(), is exported"
        )


def _other_batch(size: int) -> int:
    """A batch size beside `size` from which results that depend on a fixed one differ by a half or more."""
    return 2 * size if size < 4 else size // 2


def try_other_batch(module: nn.Module, arguments: tuple[Any, ...], exported: d5.Network, names: Sequence[str]) -> None:
    """Runs the module and its network, whose first dimension is open, with another batch size.

    Raises: ValueError for a module that does not run with it, and an output that differs.
    """
    tensors = _tensors_in(arguments)
    if not set(exported.input_names) <= set(names[: len(tensors)]) or any(one.dim() == 0 for one in tensors):
        return  # inputs of another order, which cannot be named
    batch = _other_batch(tensors[0].shape[0])

    def resized(one: Any) -> Any:
        if not isinstance(one, torch.Tensor):
            return one
        return one.detach()[torch.arange(batch, device=one.device) % one.shape[0]] if one.shape[0] else one

    given = tree_map(resized, arguments)
    fed = dict(zip(names, _tensors_in(given)))
    about = f"d5.torch.network: with a batch of {batch} in place of {tensors[0].shape[0]}"
    way_out = "leave out dynamic for a network of the example's batch"
    try:
        with torch.random.fork_rng(devices=[]):
            wanted, again = (_tensors_in(called(module, given)) for _ in range(2))
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{about} the module cannot run: {first}; {way_out}") from error
    fixed = "the module computes with the example's batch as a number; x.shape[0] without int() stays open"
    try:
        quick = [one for one in ("torch", "reference") if one in d5.frameworks()]
        results = d5.executor(exported, quick).inference({name: fed[name] for name in exported.input_names})
    except d5.Error as error:
        raise ValueError(f"{about} the network cannot run: {error}; {fixed}, or {way_out}") from error
    for name, right, other in zip(exported.output_names, wanted, again):
        got = from_dlpack(results[name])
        if got.shape != right.shape:
            raise ValueError(f"{about} output '{name}' is {described(got)}, and the module's {described(right)}; {fixed}, or {way_out}")
        if right.is_floating_point() and torch.equal(right, other) and _differs(got, right):
            raise ValueError(f"{about} output '{name}' differs from the module's; {fixed}, or {way_out}")


def _tensors_in(several: Any) -> list[torch.Tensor]:
    return [one.detach().cpu() for one in tree_leaves(several) if isinstance(one, torch.Tensor)]


def called(module: nn.Module, arguments: tuple[Any, ...]) -> Any:
    *plain, last = arguments or ((),)
    words = last if isinstance(last, dict) else {}
    with torch.no_grad():
        return module(*(plain if words or not arguments else arguments), **words)


def _differs(got: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether they differ by more than rounding, in 16 bits as well: by a twentieth of the largest value, where a batch
    size that is fixed in place of the other makes a difference of a third or more."""
    a, b = got.double(), right.double()
    largest = float(b.abs().nan_to_num(0, 0, 0).max()) if b.numel() else 0.0
    return not torch.allclose(a, b, rtol=0, atol=0.05 * largest, equal_nan=True)
