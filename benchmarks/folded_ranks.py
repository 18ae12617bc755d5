#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts trainings with ranks that stand for others, and with every rank, and prints both.

    python3 benchmarks/folded_ranks.py --program build/release/bin/d5 --ranks 16,64,256,512

The profile is made up: `d5 profile resnet-18 --from-cost 200ms`. Prints a row a case: both steps, how
far apart they are, and the time that each took.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

CLUSTERS = ("ethernet-10g", "h100-pod", "cloud-100g")
ALL_REDUCES = ("ring", "two_level_ring")


def predicted(program: str, profile: pathlib.Path, ranks: int, cluster: str, all_reduce: str, *more: str) -> tuple[float, float]:
    """The predicted step, and the time of the prediction, in s."""
    out = profile.with_name("prediction.json")
    out.unlink(missing_ok=True)
    scheme = f"consistent_decentralized:all_reduce={all_reduce}"
    words = [program, "predict", str(profile), "--ranks", str(ranks), "--cluster", cluster, "--distributed", scheme, "--quiet"]
    begin = time.monotonic()
    subprocess.run([*words, "--out", str(out), *more], check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - begin
    rows = json.loads(out.read_text())["measurements"]
    return next(row["samples"][0] for row in rows if row["metric"] == "predicted_time"), took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="d5")
    parser.add_argument("--ranks", default="16,64,256,512")
    parser.add_argument("--clusters", default=",".join(CLUSTERS))
    parser.add_argument("--all-reduces", default=",".join(ALL_REDUCES))
    parser.add_argument("--budget", default="600s")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "profile.json"
        cost = [asked.program, "profile", "resnet-18", "--batch", "16", "--from-cost", "200ms", "--out", str(profile)]
        subprocess.run(cost, check=True, stdout=subprocess.DEVNULL)
        print(f"{'cluster':13} {'all-reduce':19} {'ranks':>5} {'folded':>11} {'every rank':>11} {'off':>9} {'s':>7} {'s':>7}")
        for cluster in asked.clusters.split(","):
            for all_reduce in asked.all_reduces.split(","):
                for ranks in map(int, asked.ranks.split(",")):
                    limit = ("--budget", asked.budget)
                    few, few_took = predicted(asked.program, profile, ranks, cluster, all_reduce, *limit)
                    every, every_took = predicted(asked.program, profile, ranks, cluster, all_reduce, *limit, "--every-rank")
                    off = f"{100 * (few / every - 1):+.4f}%"
                    print(
                        f"{cluster:13} {all_reduce:19} {ranks:5} {1000 * few:8.3f} ms {1000 * every:8.3f} ms {off:>9} "
                        f"{few_took:7.2f} {every_took:7.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
