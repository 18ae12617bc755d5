# SPDX-License-Identifier: Apache-2.0
"""Functions that need ranks: those of the job, or where this process is alone ranks that it starts."""

from __future__ import annotations

import pickle
from array import array
from typing import Any, Callable, TypeVar

from d5 import _d5
from d5._launching import launch
from d5.errors import ValueError

R = TypeVar("R")


def on_ranks(who: str, ranks: int, function: Callable[..., R], *arguments: Any, **keywords: Any) -> R:
    """What `function(*arguments, group=..., **keywords)` returns at the first of `ranks` ranks, on every
    rank of the job; those that are too many wait. `group` is None where the ranks are the whole job.
    """
    job = _d5.world()
    if job.size == 1:
        return launch(function, *arguments, ranks=ranks, **keywords)[0]
    if not 1 <= ranks <= job.size:
        raise ValueError(f"{who}: {ranks} ranks, of a job of {job.size}")
    said: Any = None
    if job.rank < ranks:
        group = job if ranks == job.size else job.group(list(range(ranks)))
        try:
            said = True, function(*arguments, group=group, **keywords)
        except Exception as error:
            if job.rank > 0:
                raise
            said = False, error
    fine, result = _from_first(job, said)
    if not fine:
        raise result
    return result  # type: ignore[no-any-return]


def _from_first(job: _d5.Communicator, said: Any) -> Any:
    size = array("q", [0])
    message = bytearray(pickle.dumps(said) if job.rank == 0 else b"")
    size[0] = len(message)
    job.broadcast(_d5.Tensor(size))  # which shares its memory
    message = message or bytearray(size[0])
    job.broadcast(_d5.Tensor(message))
    return pickle.loads(message)
