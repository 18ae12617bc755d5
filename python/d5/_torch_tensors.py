# SPDX-License-Identifier: Apache-2.0
# torch's own functions lack some types.
# mypy: disable-error-code="no-untyped-call"
"""torch's tensors and reductions for d5's collectives, with checks of what d5 supports."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from d5 import _d5
from d5.errors import ShapeError, Unsupported, ValueError

_REDUCTIONS = {
    dist.ReduceOp.SUM: "sum",
    dist.ReduceOp.AVG: "sum",  # then divided
    dist.ReduceOp.MAX: "maximum",
    dist.ReduceOp.MIN: "minimum",
}


def share(call: str, tensor: torch.Tensor) -> _d5.Tensor:
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise Unsupported(f"d5 {call}: given a tensor of {tensor.device}, {tensor.layout}, expected a dense one of cpu")
    if not tensor.is_contiguous():
        raise ValueError(f"d5 {call}: the tensor is not contiguous; give tensor.contiguous()")
    return _d5.Tensor(tensor.detach())


def one(call: str, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    if len(tensors) != 1:
        raise Unsupported(f"d5 {call}: given {len(tensors)} tensors, expected one per rank")
    return tensors[0]


def reduction_of(call: str, op: Any, tensor: torch.Tensor) -> tuple[str, bool]:
    """d5's name of the reduction, and whether sums are divided by the number of ranks."""
    kind = next((kind for kind in _REDUCTIONS if op == kind), None)
    if kind is None:
        raise Unsupported(f"d5 {call}: given {op}, expected SUM, AVG, MAX or MIN")
    if kind == dist.ReduceOp.AVG and not tensor.is_floating_point():
        raise Unsupported(f"d5 {call}: an average of {tensor.dtype}; sum, and divide as you want it rounded")
    return _REDUCTIONS[kind], kind == dist.ReduceOp.AVG


def copy_out(whole: torch.Tensor, parts: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for part, values in zip(parts, whole.split([part.numel() for part in parts])):
            part.copy_(values.view(part.shape))


def expect_equal(call: str, mine: torch.Tensor, parts: Sequence[torch.Tensor]) -> None:
    for part in parts:
        if part.numel() != mine.numel() or part.dtype != mine.dtype:
            raise ShapeError(
                f"d5 {call}: given {part.numel()} x {part.dtype}, expected {mine.numel()} x {mine.dtype}, as of each rank"
            )


def counts_of(call: str, tensor: torch.Tensor, splits: Sequence[int] | None) -> list[int]:
    if not splits:
        return []
    if sum(splits) != tensor.shape[0]:
        raise ShapeError(f"d5 {call}: parts of {list(splits)} rows, expected {tensor.shape[0]} in all")
    row = tensor.numel() // max(tensor.shape[0], 1)
    return [rows * row for rows in splits]
