#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `d5 eval run` at many moments of a matrix and resumes it: missing runs are made, and none twice.

usage: killed_evaluations.py [--evaluation FILE.yaml] [--d5 build/release/bin/d5] [--moments 200] [--seed 0]

The default matrix is EfficientNet-Lite0 in `null` and `sleep`, in two scenarios with three batch sizes (run `scripts/models
efficientnet-lite0` first; D5_DATA_DIR needs imagenet-sample).

Each round starts from nothing, is killed (SIGKILL) at a random moment of a whole run, and is resumed to its end. Then the
results file and the database must contain each piece of the matrix once. Exit status 1 at the first fault.
`tests/apps/evaluation/eval_run_test.cpp` does the same at ten moments.
"""

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time


MATRIX = """kind: evaluation
name: killed
version: 1.0.0-dev
models: [efficientnet-lite0]
frameworks: ["null", "sleep:seconds=0.001"]
scenarios: [closed_loop, batched]
batches: [1, 2, 4]
queries: 3
accuracy: false
"""


def whole(line):
    begin = time.monotonic()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def fault_of(out, database, pieces):
    """The reason why the run is incomplete; None if it is complete."""
    with open(out, encoding="utf-8") as file:
        results = json.load(file)
    done = [piece["name"] for piece in results["run"]["pieces"]]
    if sorted(done) != sorted(pieces):
        return f"the results file has {done}"
    with sqlite3.connect(database) as connection:
        runs = connection.execute("SELECT COUNT(*) FROM run").fetchone()[0]
        rows = connection.execute("SELECT name FROM piece WHERE kind = 'measurements'").fetchall()
    if runs != 1 or sorted(name for (name,) in rows) != sorted(pieces):
        return f"the database has {runs} runs with {rows}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--d5", default="build/release/bin/d5")
    parser.add_argument("--evaluation", help="its manifest: some cells of a few milliseconds each")
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        evaluation = arguments.evaluation or os.path.join(folder, "killed.yaml")
        if not arguments.evaluation:
            with open(evaluation, "w", encoding="utf-8") as file:
                file.write(MATRIX)
        listed = subprocess.run([arguments.d5, "eval", "run", evaluation, "--list", "--format", "csv"], check=True,
                                capture_output=True, text=True).stdout
        pieces = [name.strip('"') for name in listed.splitlines()[1:]]
        line = [arguments.d5, "eval", "run", evaluation, "--quiet"]
        length = whole([*line, "--out", os.path.join(folder, "first.json")])
        for moment in range(arguments.moments):
            out, database = os.path.join(folder, f"{moment}.json"), os.path.join(folder, f"{moment}.db")
            kept = [*line, "--out", out, "--database", database]
            with subprocess.Popen(kept, stdout=subprocess.DEVNULL) as process:
                time.sleep(draw.uniform(0, length))
                process.kill()
            whole([*kept, "--resume"])
            fault = fault_of(out, database, pieces)
            if fault:
                sys.exit(f"killed at moment {moment}: {fault}")
    print(f"{arguments.moments} moments over {length:.2f} s: each of {len(pieces)} pieces once")


if __name__ == "__main__":
    main()
