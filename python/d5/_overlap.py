# SPDX-License-Identifier: Apache-2.0
"""How computation and communication slow each other: on the job's ranks, or on newly started ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from d5 import _d5
from d5._measurements import Measurements
from d5._nearest import knows_its_keywords
from d5._on_ranks import on_ranks
from d5.errors import ValueError


@knows_its_keywords
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
    """Measures how much all-reduces slow each kernel, and it them: `d5 overlap map`.

    Returns rows kernel_slowdown and all_reduce_slowdown, which d5.overlap_map_table prints. `kernels`
    are CASE lines, or functions by name; by default the operators of a network (`model`, with its
    `batch`), or of a published study, with data in the memory `scale` (l2, l3, memory, full).
    `resources` of each all-reduce are "default", or settings from
    "threads=1:chunk=64KiB:cores=0+1:waiting=spin:poll=10us". Each cell gets an equal share of
    `most_seconds`. Runs on all ranks of a job, outside one on `ranks` newly started ones.
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
    if isinstance(kernels, Mapping) and not kernels:
        raise ValueError("d5.overlap_map: kernels is {}, expected functions by name; leave it out for those of a published study")
    chosen = kernels if isinstance(kernels, Mapping) else [kernels] if isinstance(kernels, str) else list(kernels)
    return on_ranks("d5.overlap_map", _ranks_of(ranks), _map, chosen, threads, **how)


@knows_its_keywords
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
    """Finds the resources and bucket size that train each model fastest here: `d5 overlap search`.

    Returns rows step_time of each candidate, the first of which is the base, and a breakdown of their
    time (d5.overlap_parts_table); d5.overlap_report(rows) shows gains. `buckets` are minimum sizes in
    bytes, 0: the scheme's default. With `out`, a results file, resume=True continues after the rounds
    in it. Runs on all ranks of a job, outside one on `ranks` newly started ones.
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
