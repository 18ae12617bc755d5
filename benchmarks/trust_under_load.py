#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quality of d5's verdict "mistrusted": runs of a few commands on a quiet machine and beside busy loops. A time is wrong if
it differs by more than a factor of 1.2 from the true one, the fastest median of some quiet runs. Prints the number of
wrong times that passed (with loops), and the number of correct times that were mistrusted (without loops).

usage: trust_under_load.py [--d5 build/release/bin/d5] [--runs 200] [--loops 0,1,2,3,4] [--case TEXT] [--program COMMAND]

Runs are distributed over the cases, in random order. Without `--loops` the machine must be quiet; other processes do not
count as loops. A loop is a separate process that computes and never waits.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import shlex
import subprocess
import sys
import time

CASES = {
    "gemm 64, 2 threads": 'op bench "Gemm 64x64 64x64" --pass forward --threads 2',
    "gemm 64, 1 thread": 'op bench "Gemm 64x64 64x64" --pass forward --threads 1',
    "gemm 512, 2 threads": 'op bench "Gemm 512x512 512x512" --pass forward --threads 2',
    "conv, 2 threads": 'op bench "Conv 4x16x32x32 16x16x3x3" --pass forward --threads 2',
    "relu, 2 threads": 'op bench "Relu 1000000" --pass forward --threads 2',
    "torch gemm 256, 2 threads": 'op bench "Gemm 256x256 256x256" --pass forward --threads 2 --framework torch',
    "onednn conv, 2 threads": 'op bench "Conv 8x32x56x56 32x32x3x3" --pass forward --threads 2 --framework onednn',
    "lenet, 2 threads": "net bench lenet --batch 8 --threads 2",
    "lenet in ONNX Runtime, 2 threads": "net bench lenet --batch 8 --threads 2 --framework onnxruntime:session",
}
COLUMNS = ("case", "loops", "runs", "passed", "off", "off and passed", "worst that passed", "mistrusted, not off")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--d5", default="build/release/bin/d5", help="the program")
    parser.add_argument("--runs", type=int, default=200, help="runs for each number of loops, of all cases together")
    parser.add_argument("--loops", default="0,1,2,3,4", help="numbers of busy loops beside each run")
    parser.add_argument("--case", action="append", help="only cases whose name has this in it; several times for more")
    parser.add_argument("--program", action="append", metavar="COMMAND",
                        help="a command in place of the cases, as 'op bench \"Relu 64\" --threads 1'")
    parser.add_argument("--quiet-runs", type=int, default=10, help="runs of each case that give the true time")
    parser.add_argument("--off", type=float, default=1.2, help="factor from which a time is off")
    parser.add_argument("--seed", type=int, default=1, help="seed for the order")
    parser.add_argument("--true", help="file of true times: read where it is there, else written")
    parser.add_argument("--reasons", action="store_true", help="print how often each reason was given")
    return parser.parse_args()


class NoTime(Exception):
    """The message of a program that gave no time."""


def measured(d5, command):
    """The time of a command in seconds, its status and its reason. Raises NoTime."""
    words = [d5, *shlex.split(command), "--format", "json", "--quiet"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        records = json.loads(done.stdout)["measurements"]
    except (ValueError, KeyError):
        raise NoTime(done.stderr.strip() or done.stdout.strip()) from None
    for record in records:
        if record["metric"] == "time" and record["samples"]:
            samples = sorted(record["samples"])
            return samples[len(samples) // 2], record["status"], record["reason"]
    raise NoTime(records[0]["reason"] if records else done.stderr.strip())


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.3 if loops else 0)
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def true_times(arguments, cases):
    """The fastest median of each, because other work can only lengthen a time. Leaves out commands that cannot run."""
    kept = pathlib.Path(arguments.true) if arguments.true else None
    times = json.loads(kept.read_text()) if kept and kept.exists() else {}
    for name, command in list(cases.items()):
        try:
            if name not in times:
                times[name] = min(measured(arguments.d5, command)[0] for _ in range(arguments.quiet_runs))
        except NoTime as reason:
            print(f"{name}: left out: {reason}", file=sys.stderr)
            del cases[name]
    if kept:
        kept.write_text(json.dumps(times, indent=1) + "\n")
    return times


class Tally:
    def __init__(self):
        self.runs = self.passed = self.off = self.off_and_passed = self.doubted = 0
        self.worst = 1.0

    def add(self, factor, status, off):
        is_off, passed = factor > off, status == "passed"
        self.runs += 1
        self.passed += passed
        self.off += is_off
        self.off_and_passed += is_off and passed
        self.doubted += status == "mistrusted" and not is_off
        if passed:
            self.worst = max(self.worst, factor)

    def cells(self):
        return [str(self.runs), str(self.passed), str(self.off), str(self.off_and_passed), f"{self.worst:.2f}",
                f"{self.doubted} ({100 * self.doubted / max(1, self.runs):.1f}%)"]


def print_table(rows):
    widths = [max(len(row[i]) for row in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    for row in [COLUMNS, ["-" * width for width in widths], *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    arguments = parse()
    cases = {name: command for name, command in CASES.items()
             if not arguments.case or any(text in name for text in arguments.case)}
    if arguments.program:
        cases = {command: command for command in arguments.program}
    if not cases:
        sys.exit(f"no case of that name; there are: {', '.join(CASES)}")
    loops = [int(count) for count in arguments.loops.split(",")]
    true = true_times(arguments, cases)
    if not cases:
        sys.exit("nothing is left to run")
    chance = random.Random(arguments.seed)
    rows, reasons = [], collections.Counter()
    for count in loops:
        names = [list(cases)[i % len(cases)] for i in range(arguments.runs)]
        chance.shuffle(names)
        tallies = {name: Tally() for name in cases}
        whole = Tally()
        with busy_loops(count):
            for name in names:
                time.sleep(chance.uniform(0, 0.05))  # at any moment of the scheduler's turns
                seconds, status, reason = measured(arguments.d5, cases[name])
                factor = max(seconds / true[name], true[name] / seconds)
                for tally in (tallies[name], whole):
                    tally.add(factor, status, arguments.off)
                for part in filter(None, reason.split("; ")):
                    reasons[count, "".join("#" if letter.isdigit() else letter for letter in part)] += 1
        rows += [[name, str(count), *tallies[name].cells()] for name in cases if tallies[name].runs]
        rows.append(["all", str(count), *whole.cells()])
    print_table(rows)
    if arguments.reasons:
        for (count, reason), times in sorted(reasons.items(), key=lambda entry: (entry[0][0], -entry[1])):
            print(f"{count} loops, {times} times: {reason}")


if __name__ == "__main__":
    main()
