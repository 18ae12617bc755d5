#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of judging: a whole `d5 net bench` with an empty cache (the reference runs), again (its answers are cached),
and with --unjudged, in turns, each in a separate process; medians with the minimum and the maximum of all rounds.

usage: judging_cost.py [MODEL...] [--d5 build/release/bin/d5] [--framework torch] [--samples 3] [--rounds 5]

The default models are LeNet and ResNet-50. `--auto` measures `d5 net show MODEL --framework auto` in the same way. This
judges on four draws: with an empty cache (it measures, and judges), and again (it reads its choice).
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time


def seconds_of(words, cache):
    """Seconds of a process; its output is discarded. Raises subprocess.CalledProcessError with its stderr."""
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                   env={**os.environ, "D5_CACHE_DIR": cache})
    return time.monotonic() - begin


def bench_round(arguments, model):
    words = [arguments.d5, "net", "bench", model, "--framework", arguments.framework, "--samples",
             str(arguments.samples), "--allow-unsupported"]
    with tempfile.TemporaryDirectory() as cache:
        return {"first bench": seconds_of(words, cache), "second bench": seconds_of(words, cache),
                "--unjudged": seconds_of([*words, "--unjudged"], cache)}


def auto_round(arguments, model):
    words = [arguments.d5, "net", "show", model, "--framework", "auto"]
    with tempfile.TemporaryDirectory() as cache:
        return {"auto, first": seconds_of(words, cache), "auto, second": seconds_of(words, cache)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("models", nargs="*", default=["lenet", "resnet-50"])
    parser.add_argument("--d5", default="build/release/bin/d5")
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--auto", action="store_true")
    arguments = parser.parse_args()
    taken = {}
    for _ in range(arguments.rounds):
        for model in arguments.models:
            found = auto_round(arguments, model) if arguments.auto else bench_round(arguments, model)
            for what, seconds in found.items():
                taken.setdefault((model, what), []).append(seconds)
    for (model, what), seconds in taken.items():
        print(f"{model}, {what}: {statistics.median(seconds):.2f} s [{min(seconds):.2f}, {max(seconds):.2f}]")


if __name__ == "__main__":
    main()
