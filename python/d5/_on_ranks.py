# SPDX-License-Identifier: Apache-2.0
"""Runs functions on ranks: those of the job, or, outside a job, newly started ones."""

from __future__ import annotations

import pickle
from array import array
from typing import Any, Callable, TypeVar

from d5 import _d5
from d5._launching import launch_watched
from d5.errors import ValueError

R = TypeVar("R")


def on_ranks(who: str, ranks: int, function: Callable[..., R], *arguments: Any, **keywords: Any) -> R:
    """Runs `function(*arguments, group=..., **keywords)` on the first `ranks` ranks of the job, while
    others wait, and returns the first rank's result on every rank. `group` is None if the ranks are
    the whole job.
    """
    job = _d5.world()
    if job.size == 1:
        return launch_watched(None, function, arguments, keywords, ranks)[0]
    if not 1 <= ranks <= job.size:
        raise ValueError(f"{who}: {ranks} ranks, of a job of {job.size}")
    said: Any = None
    if job.rank < ranks:
        group = job if ranks == job.size else job.group(list(range(ranks)))
        said = _said(lambda: function(*arguments, group=group, **keywords), job.rank)
    return _told(job, said)  # type: ignore[no-any-return]


def at_first(function: Callable[..., R], *arguments: Any) -> R:
    """The result, or the exception, of `function(*arguments)` at the job's first rank, on every rank."""
    job = _d5.world()
    if job.size == 1:
        return function(*arguments)
    said = _said(lambda: function(*arguments), 0) if job.rank == 0 else None
    return _told(job, said)  # type: ignore[no-any-return]


def _said(function: Callable[[], Any], rank: int) -> tuple[bool, Any]:
    try:
        return True, function()
    except Exception as error:
        if rank > 0:
            raise
        return False, error


def _told(job: _d5.Communicator, said: Any) -> Any:
    fine, result = _from_first(job, said)
    if not fine:
        raise result
    return result


def _from_first(job: _d5.Communicator, said: Any) -> Any:
    size = array("q", [0])
    message = bytearray(pickle.dumps(said) if job.rank == 0 else b"")
    size[0] = len(message)
    job.broadcast(_d5.Tensor(size))  # shares its memory
    message = message or bytearray(size[0])
    job.broadcast(_d5.Tensor(message))
    return pickle.loads(message)
