#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of an evaluation, and EfficientNet-Lite0 in every framework.

usage: evaluation_figures.py [--d5 build/release/bin/d5] [--frameworks torch,onnxruntime:session,...] [--quick]
                             [--only overlap,trace,frameworks]

Run `scripts/models efficientnet-lite0` first; D5_DATA_DIR needs imagenet-sample. Prints:

overlap     speed of the overlapped pipeline relative to its slowest stage
trace       ratio of the latency with each trace level to that without, in many short turns, for torch and the reference
frameworks  accuracy, answers that differ from the first framework's, p90, and samples a second by batch

`bench_predictor_overhead --benchmark_filter=ratio` gives the overhead of predict over a direct call.
"""

import argparse
import csv
import io
import json
import os
import re
import subprocess
import tempfile

MODEL = "efficientnet-lite0"


class Runs:
    """Runs `d5 eval run` with the model; returns its records and answers."""

    def __init__(self, arguments, folder):
        self.d5, self.folder, self.number = arguments.d5, folder, 0

    def run(self, *words):
        """The results file's path, and its measurements. Raises subprocess.CalledProcessError on bad usage."""
        self.number += 1
        out = os.path.join(self.folder, f"{self.number}.json")
        line = [self.d5, "eval", "run", MODEL, "--quiet", "--out", out, *words]
        done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode > 1 or not os.path.exists(out):
            raise subprocess.CalledProcessError(done.returncode, line, stderr=done.stderr)
        with open(out, encoding="utf-8") as file:
            return out, json.load(file)["measurements"]

    def report(self, path, analysis):
        return subprocess.run([self.d5, "report", path, "--analysis", analysis], check=True, capture_output=True,
                              text=True).stdout

    def answers(self, framework):
        """The first class of each sample."""
        database = os.path.join(self.folder, "kept.db")
        done = self.run("--framework", framework, "--scenario", "batched", "--queries", "1", "--database", database)
        history = subprocess.run([self.d5, "eval", "history", "--database", database, "--format", "csv"], check=True,
                                 capture_output=True, text=True).stdout
        run = next(csv.DictReader(io.StringIO(history)))["run"]
        pieces = subprocess.run([self.d5, "eval", "show", run, "--pieces", "--database", database, "--format", "csv"],
                                check=True, capture_output=True, text=True).stdout
        piece = next(row for row in csv.DictReader(io.StringIO(pieces)) if row["kind"] == "answers")
        shown = subprocess.run([self.d5, "eval", "show", run, "--answers", piece["piece"], "--database", database, "--format",
                                "csv"], check=True, capture_output=True, text=True).stdout
        rows = csv.DictReader(io.StringIO(shown))
        first = {row["sample"]: re.search(r'"classes":\[(\d+)', row["answer"]) for row in rows}
        return done[1], {sample: found.group(1) for sample, found in first.items() if found}


def estimate_of(records, metric, **conditions):
    """The first such record's estimate, in the form of the results file."""
    for record in records:
        same = all(record["conditions"].get("identity", {}).get(name) == value for name, value in conditions.items())
        if record["metric"] == metric and same:
            return record
    return None


def quantile(samples, share):
    ordered = sorted(samples)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def overlap(runs, _):
    for threads in ("1", "2"):
        _, records = runs.run("--framework", "torch", "--steps", "--stage-threads", threads, "--batch", "8", "--scenario",
                              "batched", "--queries", "1")
        found = estimate_of(records, "pipeline_overlap")
        print(f"overlap, {threads} threads a stage: {found['samples'][0]:.3f} (0.9 or more is wanted)")


def trace(runs, arguments):
    for framework in ("torch", "reference"):
        out, _ = runs.run("--framework", framework, "--no-accuracy", "--scenario", "closed_loop", "--trace-level",
                          "none,model,framework,library,system", "--repetitions", "20" if arguments.quick else "60",
                          "--queries", "20" if arguments.quick else "30")
        print(runs.report(out, "trace_cost"), flush=True)
    print("wanted of a latency over that without a trace: model 1.005 or less, framework 1.02 or less")


def frameworks(runs, arguments):
    batches = "1,8" if arguments.quick else "1,2,4,8,16,32"
    first = None
    print("framework  top1  top5  differ  p90  samples/s by batch")
    for framework in arguments.frameworks.split(","):
        try:
            judged, classes = runs.answers(framework)
            _, timed = runs.run("--framework", framework, "--no-accuracy", "--scenario", "batched:batch=32", "--batch",
                                batches, "--queries", "3" if arguments.quick else "10")
            _, single = runs.run("--framework", framework, "--no-accuracy", "--scenario", "single_stream", "--queries",
                                 "50" if arguments.quick else "200")
        except (subprocess.CalledProcessError, StopIteration) as error:
            print(f"{framework}  {getattr(error, 'stderr', '') or error}".strip())
            continue
        first = first or classes
        differ = sum(classes.get(sample) != answer for sample, answer in first.items())
        shares = []
        for metric in ("top1", "top5"):
            record = estimate_of(judged, metric)
            shares.append(sum(record["samples"]) / max(len(record["samples"]), 1) if record else float("nan"))
        latency = estimate_of(single, "latency")
        p90 = quantile(latency["samples"], 0.9) * 1e3 if latency and latency["samples"] else float("nan")
        rates = []
        for batch in batches.split(","):
            record = estimate_of(timed, "throughput", batch=int(batch))
            rates.append(f"{batch}: {record['samples'][0]:.1f}" if record and record["samples"] else f"{batch}: -")
        print(f"{framework}  {shares[0]:.3f}  {shares[1]:.3f}  {differ}  {p90:.2f} ms  {', '.join(rates)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--d5", default="build/release/bin/d5")
    parser.add_argument("--frameworks",
                        default="torch,torch:torch,torch:script,onnxruntime,onnxruntime:session,onednn,openvino,reference")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="overlap,trace,frameworks")
    arguments = parser.parse_args()
    figures = {"overlap": overlap, "trace": trace, "frameworks": frameworks}
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments, folder)
        for name in arguments.only.split(","):
            figures[name](runs, arguments)


if __name__ == "__main__":
    main()
