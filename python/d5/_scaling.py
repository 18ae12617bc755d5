# SPDX-License-Identifier: Apache-2.0
"""Measures how training scales with the number of ranks of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Callable

from d5 import _d5
from d5._former import takes_former_keywords
from d5._launching import train_here, launch_watched
from d5._measurements import Measurements
from d5._nearest import knows_its_keywords
from d5._training_result import Overrides, assignments, texts_of
from d5.errors import Unsupported, ValueError


@takes_former_keywords
@knows_its_keywords
def scale(
    recipe: _d5.Recipe | os.PathLike[str] | str,
    *,
    ranks: Sequence[int] = (1, 2),
    schemes: Sequence[str] | str = ("consistent_decentralized",),
    scalings: Sequence[str] | str = ("strong",),
    runs: int = 3,
    threads: int = 1,
    overrides: Overrides = (),
    out: os.PathLike[str] | str = "",
    resume: bool = False,
    say: Callable[[str], object] | None = None,
    **options: Any,
) -> Measurements:
    """Trains a recipe on each number of ranks, by each scheme, strong and weak, `runs` times (0: until
    the interval is narrow, as in d5.repeat_training): `d5 scale`.

    The points take turns; each run has new processes of this machine with `threads` threads per rank.
    Rows have throughput, and efficiency relative to the fewest ranks, run by run (d5.scaling_summary,
    d5.scaling_plot); more ranks than cores are mistrusted. A run that fails is a failed row. With
    `out`, a results file, resume=True skips the runs in it. Further keywords are those of d5.train.

        rows = d5.scale("mnist-lenet-quick", ranks=[1, 2], scalings=["strong", "weak"])
        print(d5.scaling_summary(rows))
    """
    if _d5.world().size > 1:
        raise Unsupported("d5.scale starts ranks itself; call it without mpirun and d5.launch")
    if threads < 1:
        raise ValueError(f"d5.scale: threads is {threads}, expected 1 or more")
    _d5._expect_options(**options)
    named = options.get("framework", options.get("frameworks", ()))
    _d5._expect_executors([named] if isinstance(named, str) else list(named))
    texts = texts_of(overrides)
    whole = _d5._overridden(recipe, "d5.scale", assignments("d5.scale", overrides), texts)
    options["metrics"] = [*options.get("metrics", ()), "throughput"]

    def train(count: int, scheme: str, scaling: str, seed: int) -> list[_d5.Measurement]:
        changes = [f"distributed.scaling={scaling}"] if scaling else []
        one = whole.with_seed(seed)
        words = {"distributed": scheme, "overrides": changes, "_texts": texts, **options}
        return launch_watched(None, _train_once, (one, threads), words, count)[0]

    how = f"scale, threads {threads}, {sorted(options.items(), key=str)}"
    return Measurements(
        _d5._scale(
            train,
            whole,
            ranks=list(ranks),
            schemes=_words(schemes),
            scalings=_words(scalings),
            runs=runs,
            out=out,
            resume=resume,
            how=how,
            say=say,
        )
    )


def _words(text: Sequence[str] | str) -> list[str]:
    return text.split(",") if isinstance(text, str) else list(text)


def _train_once(recipe: _d5.Recipe, threads: int, **options: Any) -> list[_d5.Measurement]:
    _d5.share_threads()  # so that d5.train does not divide the threads again
    _d5.set_threads(threads)
    return list(train_here(recipe, **options).rows)
