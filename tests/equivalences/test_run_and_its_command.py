# SPDX-License-Identifier: Apache-2.0
"""A run and the line that each of its records names as `command`: the same subject, conditions and line again."""

import shlex

import pytest
from conftest import SOURCE

QUICK = ("--samples", "6", "--warmup", "1")
RUNS = {
    "op check": ("op", "check", "Gemm 3x4 4x5", "Relu float64:2x3", "--seed", "4", "--framework", "reference"),
    "op bench": ("op", "bench", "Conv 1x2x5x5 3x2x3x3 pads=1x1x1x1", "--pass", "forward", "--threads", "1", *QUICK),
    "op bench of a draw": ("op", "bench", "Add 2x{n} 2x{n} for n=3,4", "--pass", "forward", "--cold-cache", *QUICK),
    "op judge": ("op", "judge", str(SOURCE / "tests/level0_ops/judge/controls/plain.cpp"), "--for", "MatMul 4x{n} {n}x3 for n=5,6", "--samples", "6"),
    "net check": ("net", "check", "lenet", "--batch", "2", "--seed", "3"),
    "net bench": ("net", "bench", "mlp", "--batch", "2", "--threads", "1", "--seed", "5", *QUICK),
    "net bench of training": ("net", "bench", "lenet", "--training", "--batch", "2", *QUICK),
    "data bench": ("data", "bench", "mnist:subset=sample", "--batch", "4", *QUICK),
    "train": ("train", "mnist-lenet-quick", "--set", "training.epochs=1", "--set", "training.most_batches=4", "--set", "optimizer.learning_rate=0.01"),
    "train on ranks": ("train", "mnist-lenet-quick", "--ranks", "2", "--set", "training.epochs=1", "--set", "training.most_batches=4", "--distributed", "consistent_neighbors"),
}


def key_of(record, but=()):
    """What must be equal from run to run; findings and asides may differ."""
    fixed = record["conditions"].get("identity", {}) | record["conditions"].get("setting", {})
    named = tuple(sorted((name, str(value)) for name, value in fixed.items() if name not in but))
    return (record["subject"], record["metric"], record["statistic"], record.get("framework"), named)


@pytest.mark.parametrize("name", RUNS)
def test_again(d5, name):
    any_verdict = (0, 1)
    first = d5.records(*RUNS[name], status=any_verdict)
    lines = sorted({record["command"] for record in first})
    assert lines and all(lines), "each record has a command"
    again = []
    for line in lines:
        words = shlex.split(line)
        start = words.index("d5") if "d5" in words else next(i for i, w in enumerate(words) if w.endswith("/d5"))
        if words[0] != words[start]:  # a launcher stands before it
            ranks = words[words.index("-np") + 1] if "-np" in words else words[words.index("-n") + 1]
            words += ["--ranks", ranks]
        again += d5.records(*words[start + 1 :], status=any_verdict)
    assert {record["command"] for record in again} == set(lines)
    assert {key_of(r) for r in again} == {key_of(r) for r in first}
