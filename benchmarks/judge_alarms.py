#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alarms of the judges: honest answers that fail, and planted errors that pass.

Honest: every operator case of the frameworks' suites, drawn with several seeds, checked forward and backward in
each framework under each setting of their processor code. Planted: a framework of reference kernels whose answer
is off by so many rounding bounds in one drawn element; `d5 net check` must fail it.

usage: judge_alarms.py [--program build/release/bin/d5] [--frameworks torch,onednn,onnxruntime] [--seeds 2]
                       [--bounds 4] [--plants 200] [--settings NAME,...]

The module d5 is found on PYTHONPATH. Prints a row per setting and one for the plants; exit status 1 for a false
alarm or a missed plant.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

SETTINGS = {
    "as it is": {},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2"},
    "oldest": {"ATEN_CPU_CAPABILITY": "default", "DNNL_MAX_CPU_ISA": "SSE41"},
}
CASES = Path(__file__).parent.parent / "tests/level0_ops/framework_operators.txt"
# Operators whose answers round; in each the drawn inputs are of both signs.
PLANTED = (
    "Gemm {m}x{k} {k}x{n}", "MatMul {m}x{k} {k}x{n}", "Conv 1x{n}x9x9 {m}x{n}x3x3", "Softmax {m}x{n}", "Tanh {m}x{k}",
    "ReduceSum {m}x{k}", "LayerNormalization {m}x{k} {k} {k}", "Mul {m}x{k} {m}x{k}", "AveragePool 1x{n}x8x8 kernel_shape=2x2",
)  # fmt: skip


def honest(program, frameworks, seed, setting):
    """Number of rows by status; the rows that failed."""
    command = [program, "op", "check", CASES, "--framework", frameworks, "--seed", seed, "--format", "json", "--quiet"]
    run = subprocess.run(
        [*map(str, command), "--allow-unsupported"], env={**os.environ, **SETTINGS[setting]}, capture_output=True, text=True
    )
    rows = json.loads(run.stdout)["measurements"]
    return len([row for row in rows if row["status"] != "skipped"]), [row for row in rows if row["status"] == "failed"]


def planted(bounds, plants, draw):
    """Number of plants, and the cases whose error passed."""
    import d5
    import numpy as np

    # Error of the next run relative to the output's largest number, as bounds are, and the drawn place of its element.
    now = {"error": 0.0, "place": 0.0}

    class Off(d5.GraphExecutor):
        def __init__(self, network):
            super().__init__(network)
            self.inner = d5.executor(network, "reference")

        def inference(self, inputs):
            outputs = {name: np.array(value) for name, value in self.inner.inference(inputs).items()}
            for value in outputs.values():
                value.reshape(-1)[int(now["place"] * value.size)] += now["error"] * np.abs(value).max()
            return outputs

    @d5.register
    class Planted(d5.Framework):
        name = "planted"
        version = "1"
        executors = {"off": Off}

    def check(case, seed):
        return d5.check_network(case, frameworks=["planted:off"], seed=seed)[0]

    missed, made = [], 0
    while made < plants:
        sizes = {key: draw.randint(2, 40) for key in "mkn"}
        case = draw.choice(PLANTED).format(**sizes)
        now.update(error=0.0, place=draw.random())
        own = check(case, made).value
        now.update(error=1.0)  # an answer outside makes the judge look for all that rounding can do
        bound = float(check(case, made).conditions["bound"])
        now.update(error=draw.choice((-1, 1)) * (bounds * bound + own))
        if check(case, made).status != "failed":
            missed.append(f"{case}, seed {made}")
        made += 1
    return made, missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/d5")
    parser.add_argument("--frameworks", default="torch,onednn,onnxruntime")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--bounds", type=float, default=4)
    parser.add_argument("--plants", type=int, default=200)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    options = parser.parse_args()
    wrong = False
    for setting in filter(None, options.settings.split(",")):
        rows, failed = 0, []
        for seed in range(1, options.seeds + 1):
            count, alarms = honest(options.program, options.frameworks, seed, setting)
            rows, failed = rows + count, failed + alarms
        print(f"{setting}: {rows} honest rows, {len(failed)} failed", flush=True)
        for row in failed:
            print(f"  {row['framework']}: {row['subject']}: {row['reason']} ({row['command']})")
        wrong |= bool(failed)
    if options.plants:
        made, missed = planted(options.bounds, options.plants, random.Random(7))
        print(f"planted: {made} errors of {options.bounds:g} bounds, {len(missed)} passed")
        for case in missed:
            print(f"  {case}")
        wrong |= bool(missed)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
