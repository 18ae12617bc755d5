#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error of predictions of training: 48 cases on the ranks of one machine.

usage: prediction_cases.py --program build/release/bin/d5 --folder DIR [--steps 20] [--models lenet,...] [--ranks 2,4]

Three networks, each on 2 and 4 ranks, in two sizes of buckets: by the ring over messages in memory, and over a modelled
wire of 10 and of 1 Gbit/s (50 us), and by node_memory (`--all-reduces`): `d5 predict MODEL --measure N`. On two cores
`--ranks 2` selects the 24 cases whose ranks have a core each. Each case first measures the network between its ranks. Then
launches of profiled copies and of training take turns (`--launches`), because a shared machine is some percent faster
or slower a minute later (`--reuse` measures profiles and networks once, and shows that). A prediction uses only the
profiles and the network; nothing is fitted to cases. Cases with results in DIR are not run again, so the script can be
continued. 24 cases take some fifteen minutes on two cores; nothing else should run.

Prints a row per case: the predicted step and its interval, the median of the measured steps and its interval, the error,
and that of the closed formulas. Then, for all cases and for those whose ranks have a core each, it prints the median and
the largest error, the number of cases within 8% or the measured interval, and the number of cases in which the prediction
is closer than the formula. With more ranks than cores, ranks take turns: a rank may wait for one that is not running,
which is not predicted.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

BATCHES = {"lenet": 32, "resnet-18": 1, "mobilenet-v1": 1}
WIRES = {"memory": None, "10 Gbit/s": "50us,1.25GB/s", "1 Gbit/s": "50us,125MB/s"}
BUCKETS = {"4 MiB": 4 << 20, "256 KiB": 256 << 10}
WORST = 0.08


def run(words: list[str], out: pathlib.Path) -> None:
    """Writes `out` only if it is complete."""
    part = out.with_suffix(".part.json")
    done = subprocess.run([*words, "--out", str(part)], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not part.exists():
        sys.exit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    os.replace(part, out)


def case_of(file: pathlib.Path) -> dict:
    numbers = {}
    for record in json.loads(file.read_text())["measurements"]:
        samples = sorted(record["samples"])
        numbers[record["metric"]] = statistics.median(samples)
        if record["metric"] == "predicted_time":
            numbers["low"], numbers["high"] = (record["conditions"]["finding"][end]["value"] for end in ("low", "high"))
        if record["metric"] == "time":
            # 95% of medians lie between these two order statistics.
            margin = 0.98 * len(samples) ** 0.5
            first = max(0, int(len(samples) / 2 - margin))
            numbers["interval"] = samples[first], samples[-1 - first]
    return numbers


def percent(share: float | None) -> str:
    """A share as a signed percentage; node_memory has no formula, hence None."""
    return "-" if share is None else f"{100 * share:+.1f}%"


def within(case: dict) -> bool:
    """The tolerance: 8%, or the uncertainty of the measurement."""
    low, high = case["interval"]
    return abs(case["prediction_error"]) <= WORST or low <= case["predicted_time"] <= high


def summary(name: str, cases: list[dict]) -> str:
    if not cases:
        return f"{name}: none"
    errors = [abs(case["prediction_error"]) for case in cases]
    formula = [abs(case["baseline_error"]) for case in cases if "baseline_error" in case] or [float("nan")]
    closer = sum(abs(case["prediction_error"]) <= abs(case.get("baseline_error", 9)) for case in cases)
    return (
        f"{name}, {len(cases)} cases: median error {100 * statistics.median(errors):.1f}%, worst {100 * max(errors):.1f}%"
        f" (by formula {100 * statistics.median(formula):.1f}%, {100 * max(formula):.1f}%);"
        f" {sum(map(within, cases))} within {100 * WORST:.0f}% or the measured interval; {closer} closer than the formula"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=20, help="measured of each case")
    parser.add_argument("--framework", default="onednn+reference")
    parser.add_argument("--models", default=",".join(BATCHES))
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--all-reduces", default="ring,node_memory")
    parser.add_argument("--launches", type=int, default=6, help="launches of profiles and of training per case")
    parser.add_argument("--reuse", action="store_true", help="profiles and networks of cases before")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    cases = [
        (model, int(ranks), wire, bucket, algorithm)
        for model in options.models.split(",")
        for ranks in options.ranks.split(",")
        for wire in WIRES
        for bucket in BUCKETS
        for algorithm in options.all_reduces.split(",")
        if WIRES[wire] is None or algorithm != "node_memory"  # which has no wire to go over
    ]
    rows, begin = [], time.monotonic()
    print("| model | ranks | between them | all-reduce | buckets | predicted | measured | error | by formula |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for number, (model, ranks, wire, bucket, algorithm) in enumerate(cases, 1):
        name = f"{model} {ranks} {wire} {algorithm} {bucket}".replace("/", "").replace(" ", "-")
        file = options.folder / f"case-{name}.json"
        if not file.exists():
            print(f"{number} of {len(cases)}, {time.monotonic() - begin:.0f} s: {name}", file=sys.stderr, flush=True)
            words = [options.program, "predict", model, "--batch", str(BATCHES.get(model, 1)), "--measure", str(ranks)]
            words += ["--framework", options.framework, "--threads", "1", "--steps", str(options.steps), "--quiet"]
            words += ["--launches", str(options.launches)]
            if options.reuse:
                words += ["--keep", str(options.folder / "kept")]
            words += ["--distributed", f"consistent_decentralized:all_reduce={algorithm}:bucket_bytes={BUCKETS[bucket]}"]
            if WIRES[wire]:
                words += ["--wire", WIRES[wire]]
            run(words, file)
        case = case_of(file)
        case["ranks"] = ranks
        rows.append(case)
        low, high = case["interval"]
        print(
            f"| {model} | {ranks} | {wire} | {algorithm} | {bucket}"
            f" | {1e3 * case['predicted_time']:.2f} [{1e3 * case['low']:.2f}, {1e3 * case['high']:.2f}] ms"
            f" | {1e3 * case['time']:.2f} [{1e3 * low:.2f}, {1e3 * high:.2f}] ms"
            f" | {100 * case['prediction_error']:+.1f}% | {percent(case.get('baseline_error'))} |",
            flush=True,
        )
    cores = len(os.sched_getaffinity(0))
    print()
    print(summary("a core each", [case for case in rows if case["ranks"] <= cores]))
    print(summary("more ranks than cores", [case for case in rows if case["ranks"] > cores]))
    print(summary("all", rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
