# SPDX-License-Identifier: Apache-2.0
"""Predictions, and measurements to compare them with: on the job's ranks, or on newly started ones."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Sequence
from typing import Any, cast

from d5 import _d5
from d5._former import takes_former_keywords
from d5._nearest import knows_its_keywords
from d5._on_ranks import at_first, on_ranks
from d5.errors import TypeError, ValueError

_SCHEME = "consistent_decentralized:all_reduce=ring"
_OPTIMIZER = "sgd:learning_rate=1e-12"  # keeps the weights unchanged, however many steps there are
_TRACED_STEPS = 5  # few, because a trace slows steps down


@knows_its_keywords
def calibrate(
    name: str = "this-machine",
    *,
    ranks: int = 2,
    repetitions: int = 50,
    least_bytes: int = 64,
    most_bytes: int = 1 << 24,
    wire: str = "",
) -> _d5.ClusterCalibration:
    """Fits a cluster description to measured messages: `d5 cluster calibrate`.

    Its `cluster` is for d5.predict. Sizes and all-reduces that the fit does not use are compared with
    it (`held_out()`, `table()`). Runs between all ranks of a job (mpirun, d5.launch), outside one
    between `ranks` newly started ones of this machine, which should be otherwise idle. `wire`
    ("50us,1GB/s") delays messages, as d5.with_wire does.
    """
    job = _d5.world().size
    sizes = {"repetitions": repetitions, "least_bytes": least_bytes, "most_bytes": most_bytes, "wire": wire}
    return on_ranks("d5.calibrate", job if job > 1 else ranks, _calibrate, name, **sizes)


def _calibrate(name: str, group: Any = None, wire: str = "", **sizes: Any) -> _d5.ClusterCalibration:
    return _d5._calibrate(name, group=_wired(group, wire), **sizes)


def _wired(group: Any, wire: str) -> Any:
    return _d5.with_wire(group or _d5.world(), wire) if wire else group


@takes_former_keywords
@knows_its_keywords
def predict(
    profile: _d5.TrainingProfile | _d5.ChakraTrace | os.PathLike[str] | str,
    cluster: _d5.ClusterDescription | str | None = None,
    ranks: Sequence[int] = (),
    batch: int = 0,
    *,
    measure: Sequence[int] = (),
    scheme: str = _SCHEME,
    strategies: Sequence[str] | str = (),
    scaling: str = "weak",
    wire: str = "",
    model: str = "",
    what_helps: bool = False,
    budget: str = "20s",
    every_rank: bool = False,
    map: os.PathLike[str] | str | None = None,
    force: bool = False,
    trace: os.PathLike[str] | str | None = None,
    framework: str = "reference",
    optimizer: str = _OPTIMIZER,
    steps: int = 30,
    repetitions: int = 50,
    threads: int = 1,
    launches: int = 1,
) -> _d5.PredictedCurve:
    """Predicts the scaling curve of a training: `d5 predict`. `batch` is per rank, with
    scaling="strong" of all ranks together; left out it is the profile's only one.

    From a d5.profile, on `cluster` (a description, its name or file), it simulates each number of
    `ranks`; `strategies` change the plan one after the other: "compute:factor=2". `model` names the
    model of the network's time (`d5 list simulated-networks`; by default the one that knows the
    cluster's topology), or "formula": closed forms at once, for any number of ranks. `what_helps`
    finds each point's bottleneck by three more simulations. Ranks of one host stand for those of all
    where hosts are alike; `every_rank` simulates each. A simulation longer or larger than `budget`
    ("30s,2GiB") ends the curve, and `left_out` says what is missing.

    From a d5.read_execution_trace it replays the trace, in closed forms: the cluster gives the times
    of communication, `strategies` are compute and wire, and a step is one sample without a `batch`.

    With measure=[1, 2] it predicts and measures this machine's own ranks. `profile` is then a model
    or recipe, which as many copies train at once in `framework`; the network between them is
    calibrated with `repetitions` of each message; a curve is predicted; then the ranks train
    (`points[i].measured`). In a job the first of its ranks do so. Outside one they are started, each
    with `threads` threads, `launches` times, which share the `steps`, because processes differ by
    more than their steps do. Profiles and measurements take turns, and a measured launch is one
    sample.

    `map` is a file of an overlap map (`d5 overlap map --out`): a second prediction, in which
    computation and communication that overlap slow each other by it (`points[i].contended_step`). A
    map of another machine, all-reduce or resources is refused; `force` takes and mistrusts it.

    `wire` ("50us,1GB/s") models a port of this latency and bandwidth at each rank: it replaces the
    cluster, and with `measure` delays messages. The file `trace` receives a few simulated steps, on
    the largest of `ranks` up to 16; with `measure` a step on the most ranks, measured above
    predicted. ui.perfetto.dev and d5.Timeline.read open it.

        d5.predict(d5.profile("lenet", [32]), "ethernet-10g", [1, 2, 4], 32)
        d5.predict("lenet", batch=16, measure=[1, 2], wire="50us,1GB/s", trace="steps.json")
    """
    if batch < (1 if measure else 0):
        raise ValueError(f"d5.predict: a batch of {batch}; expected 1 or more")
    modelled = _d5.cluster_of_wire(wire) if wire else None
    if not measure:
        named = _d5.cluster_description(cluster) if isinstance(cluster, str) else cluster
        place = named if named is not None else modelled
        known = isinstance(profile, (_d5.TrainingProfile, _d5.ChakraTrace))
        if not known or place is None or (named is not None and modelled is not None):
            raise TypeError(
                "d5.predict needs a d5.profile or a d5.read_execution_trace and a cluster or a wire, "
                "or a model and measure=[1, 2]"
            )
        chain = strategies.split(",") if isinstance(strategies, str) else list(strategies)
        if isinstance(profile, _d5.ChakraTrace):
            if scaling != "weak" or model not in ("", "formula") or every_rank or map or trace is not None:
                raise TypeError(
                    "d5.predict: an execution trace is replayed in closed forms; it takes no scaling, model, "
                    "every_rank, map or trace"
                )
            return _d5._predict_trace(profile, place, list(ranks), batch or 1, scheme=scheme, strategies=chain)
        assert isinstance(profile, _d5.TrainingProfile)
        return _d5._predict(
            profile, place, list(ranks), batch or _d5._only_batch(profile), scheme=scheme, strategies=chain, scaling=scaling, wire=wire,
            model=model, what_helps=what_helps, budget=budget, every_rank=every_rank, trace=trace, map=map, force=force,
        )
    if isinstance(profile, (_d5.TrainingProfile, _d5.ChakraTrace)) or cluster is not None or ranks or strategies or model or what_helps or every_rank:
        raise TypeError(
            "d5.predict: measure= trains a model or recipe on this machine as it is; it takes no profile, "
            "cluster, ranks, strategies, model, what_helps or every_rank"
        )
    if launches < 1 or (launches > 1 and _d5.world().size > 1):
        raise ValueError(
            f"d5.predict: {launches} launches; expected 1 or more, and 1 within a job, whose ranks are not restarted"
        )
    trained = os.fspath(profile)
    steps = _d5._steps_of_launch(steps, launches)
    how = {"framework": framework, "optimizer": optimizer, "steps": steps}
    traced = {**how, "steps": min(steps, _TRACED_STEPS)}
    name = f"this machine, {modelled.name}" if modelled else "this machine"

    def of_rank(n: int) -> int:
        return max(1, batch // n) if scaling == "strong" else batch

    @functools.cache  # the trace asks for the last one again
    def profiled(n: int, launch: int) -> _d5.TrainingProfile:
        return on_ranks("d5.predict", n, _profile, trained, of_rank(n), threads, **how)

    @functools.cache
    def joined(n: int) -> _d5.ClusterDescription:
        return on_ranks("d5.predict", n, _calibrate, name, wire=wire, repetitions=repetitions).cluster

    def measured(n: int) -> list[float]:
        return on_ranks("d5.predict", n, _measure, trained, of_rank(n), threads, wire=wire, scheme=scheme, **how)

    def watched(n: int) -> _d5.Timeline:
        seen = on_ranks("d5.predict", n, _watch, trained, of_rank(n), threads, wire=wire, scheme=scheme, **traced)
        return cast(_d5.Timeline, seen)  # the first rank's

    if trace is not None:
        at_first(_d5._check_writable, trace)
    asked = (list(measure), batch, scheme, scaling, wire, launches, map, force)
    curve, timeline = _d5._predict_local(profiled, joined, measured, watched if trace is not None else None, *asked)
    if timeline is not None:
        at_first(timeline.write, trace)
    return curve


def _profile(
    model: str, batch: int, threads: int, group: Any = None, **how: Any
) -> _d5.TrainingProfile:
    _take_threads(threads)
    return _d5.profile(model, [batch], group=group, **how)


def _measure(
    model: str, batch: int, threads: int, group: Any = None, wire: str = "", **how: Any
) -> list[float]:
    _take_threads(threads)
    return _d5.measure_steps(model, batch, group=_wired(group, wire), **how)


def _watch(
    model: str, batch: int, threads: int, group: Any = None, **how: Any
) -> _d5.Timeline | None:
    """Timeline of such steps on the ranks, at the first of them."""
    ranks = group or _d5.world()
    with tempfile.TemporaryDirectory() as folder:  # the first rank's folder is used
        file = os.path.join(folder, "steps.json")
        _d5.run_traced(file, lambda: _measure(model, batch, threads, group, **how), group=group)
        return _d5.Timeline.read(file) if ranks.rank == 0 else None


def _take_threads(threads: int) -> None:
    _d5.set_threads(threads)
    job = _d5.world()
    if job.size * threads <= (os.cpu_count() or 1):
        _d5.pin_threads(job.rank * threads)
