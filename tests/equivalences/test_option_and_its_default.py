# SPDX-License-Identifier: Apache-2.0
"""An option that is given its default, and one that is left out: the same command line of records, numbers alike."""

import pytest
from test_run_and_its_command import key_of

QUICK = ("--samples", "6")
DEFAULTS = {
    "op bench": (
        ("op", "bench", "Gemm 3x4 4x5", "--pass", "forward", *QUICK),
        (("--warmup", "3"), ("--most-seconds", "60"), ("--judge-seconds", "60"), ("--seed", "0"), ("--device", "cpu"),
         ("--framework", "reference"), ("--format", "table"), ("--metrics", "time")),
    ),
    "net check": (
        ("net", "check", "lenet", "--batch", "1"),
        (("--seed", "0"), ("--device", "cpu"), ("--framework", "reference")),
    ),
    "train": (
        ("train", "mnist-lenet-quick", "--set", "training.epochs=1", "--set", "training.most_batches=3"),
        (("--set", "training.seed=1"), ("--set", "optimizer.momentum=0.9"), ("--set", "sampler.tail=keep"),
         ("--ranks", "1"), ("--framework", "reference")),
    ),
}


def learnt(records):
    return [m["samples"] for m in records if m["quantity"] in ("loss", "accuracy", "error")]


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(d5, name):
    words, defaults = DEFAULTS[name]
    some = (0, 1)
    left_out = d5.records(*words, status=some)
    for option in defaults:
        given = d5.records(*words, *option, status=some)
        assert [key_of(r) for r in given] == [key_of(r) for r in left_out], option
        if option[0] != "--set":  # which a command repeats as it was given
            assert [r["command"] for r in given] == [r["command"] for r in left_out], option
        assert learnt(given) == learnt(left_out), option
