# SPDX-License-Identifier: Apache-2.0
"""Training under mpirun: on all ranks together, or refused; never each rank by itself."""

import pathlib

import pytest
from rank_jobs import output_of_two

import d5

RECIPE = pathlib.Path(__file__).resolve().parents[2] / "recipes" / "mnist-lenet-quick.yaml"
FEW = ["training.epochs=1", "training.most_batches=4"]


def test_two_ranks_train_together_what_one_trains(tmp_path):
    rows, _ = d5.train(RECIPE, set=FEW)
    losses = {row.metric: row for row in rows}["loss"].samples
    out = output_of_two(
        f"""
import d5
rows, _ = d5.train({str(RECIPE)!r}, overrides={FEW!r}, checkpoint={str(tmp_path / "run")!r})
loss = [row for row in rows if row.metric == "loss"][0]
assert loss.conditions["ranks"] == 2
for mine, one in zip(loss.samples, {losses!r}, strict=True):
    assert abs(mine - one) <= 1e-4 * one, (mine, one)  # sums of 32 samples in another order
volumes = [row for row in rows if row.metric == "communication_volume"]
assert [row.conditions["rank"] for row in volumes] == [0, 1]
print("together")
""",
        tmp_path,
    )
    assert out.count("together") == 2
    # Each rank wrote a part of its own.
    assert (tmp_path / "run").exists() and (tmp_path / "run.rank-1").exists()


@pytest.mark.parametrize("what", ["d5.TrainingSession(recipe)", "d5.repeat_training(recipe)"])
def test_what_each_rank_would_do_alone_is_refused(what, tmp_path):
    out = output_of_two(
        f"""
import d5
recipe = d5.recipe({str(RECIPE)!r})
try:
    {what}
except d5.Unsupported as refused:
    assert "each would do all of it alone" in str(refused)
    print("refused")
""",
        tmp_path,
    )
    assert out.count("refused") == 2
