# SPDX-License-Identifier: Apache-2.0
"""What communication and computation take from each other: on the job's ranks, or on ranks that are
started."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from d5 import _d5
from d5._measurements import Measurements
from d5._on_ranks import on_ranks


def overlap_map(
    kernels: Sequence[str] | Mapping[str, Callable[[], object]] | str = (),
    *,
    model: str = "",
    batch: int = 16,
    scale: str = "l2",
    framework: str = "reference",
    resources: Sequence[str] = ("threads=0", "threads=1", "threads=1:waiting=sleep"),
    all_reduce: str = "node_memory",
    bytes: int = 1 << 20,
    pairs: int = 30,
    most_seconds: float = 300,
    ranks: int = 2,
    threads: int = 0,
    say: Callable[[str], object] | None = None,
) -> Measurements:
    """How much longer each kernel takes beside all-reduces, and they beside it: `d5 overlap map`.

    Rows kernel_slowdown and all_reduce_slowdown, which d5.overlap_map_table shows. `kernels` are
    CASE lines, or functions by name; without them the operators of a network (`model`, with its
    `batch`), or of a published study, whose data lie where `scale` says (l2, l3, memory, full).
    `resources` are of each all-reduce: "default", or what counts of
    "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us". Each cell has an equal share of
    `most_seconds`. Within a job on all of its ranks, otherwise on `ranks` that are started.
    """
    how = {
        "model": model,
        "batch": batch,
        "scale": scale,
        "framework": framework,
        "resources": list(resources),
        "all_reduce": all_reduce,
        "bytes": bytes,
        "pairs": pairs,
        "most_seconds": most_seconds,
        "say": say,
    }
    chosen = kernels if isinstance(kernels, Mapping) else [kernels] if isinstance(kernels, str) else list(kernels)
    return on_ranks("d5.overlap_map", _ranks_of(ranks), _map, chosen, threads, **how)


def overlap_search(
    models: Sequence[str] | str,
    *,
    batch: int = 16,
    resources: Sequence[str] = ("default", "threads=0", "threads=1", "threads=1:waiting=sleep"),
    buckets: Sequence[int] = (0,),
    all_reduce: str = "node_memory",
    framework: str = "reference",
    rounds: int = 30,
    steps_per_block: int = 2,
    most_seconds: float = 300,
    out: os.PathLike[str] | str = "",
    resume: bool = False,
    ranks: int = 2,
    threads: int = 0,
    say: Callable[[str], object] | None = None,
) -> Measurements:
    """Which resources and buckets train each model fastest here: `d5 overlap search`.

    Rows step_time of each candidate, the first of which is the base, and where its time goes
    (d5.overlap_parts_table); d5.overlap_report(rows) tells gains. `buckets` are least sizes in
    bytes, 0 as the scheme has it. With `out`, a results file, resume=True goes on with the rounds
    that it holds. Within a job on all of its ranks, otherwise on `ranks` that are started.
    """
    how = {
        "batch": batch,
        "resources": list(resources),
        "buckets": list(buckets),
        "all_reduce": all_reduce,
        "framework": framework,
        "rounds": rounds,
        "steps_per_block": steps_per_block,
        "most_seconds": most_seconds,
        "out": out,
        "resume": resume,
        "say": say,
    }
    names = models.split(",") if isinstance(models, str) else list(models)
    return on_ranks("d5.overlap_search", _ranks_of(ranks), _search, names, threads, **how)


def _ranks_of(ranks: int) -> int:
    job = _d5.world().size
    return job if job > 1 else ranks


def _map(kernels: Any, threads: int, group: Any = None, **how: Any) -> Measurements:
    if threads > 0:
        _d5.set_threads(threads)
    return _d5._overlap_map(kernels, group=group, **how)


def _search(models: list[str], threads: int, group: Any = None, **how: Any) -> Measurements:
    if threads > 0:
        _d5.set_threads(threads)
    return _d5._overlap_search(models, group=group, **how)
