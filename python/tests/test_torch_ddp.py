# SPDX-License-Identifier: Apache-2.0
"""torch's own distribution as a scheme of recipes, beside d5's."""

import pytest
from rank_jobs import Parts

torch = pytest.importorskip("torch")

BEGIN = """
import d5, pytest, torch
import d5.torch_ddp, d5.torch_zero
from d5._torch_groups import group_of
torch.set_num_threads(1)
ranks = d5.world()

def trained(*changes):
    recipe = d5.recipe("mnist-lenet-quick").changed(
        "training.epochs=1", "training.most_batches=6", "sampler.batch_size=24", *changes)
    rows, _ = d5.train(recipe)
    by_metric = {row.metric: row for row in rows}
    return by_metric["loss"].samples, by_metric

def scheme(name, **options):
    return [f"distributed.name={name}", *(f"distributed.{key}={value}" for key, value in options.items())]
"""

HOOKS = """
ours, _ = trained()
assert len(ours) == 6
gloo = group_of("gloo")
for changes in (scheme("torch/ddp"), scheme("torch/ddp", process_group=gloo.group_name), scheme("torch_ddp"),
                scheme("torch_ddp", backend="gloo")):
    losses, rows = trained(*changes)
    # Halves are exact, and a sum of two is rounded once in any order.
    assert losses == ours if ranks.size < 3 else losses == pytest.approx(ours, rel=1e-5), changes
    if ranks.size > 1:
        assert rows["loss"].conditions["distributed"] == changes[0].split("=")[1]
if ranks.size > 1:
    assert trained(*scheme("torch/ddp", process_group=gloo.group_name))[1]["loss"].conditions["backend"] == "gloo"

for hook in ("float16", "power_sgd", "post_local"):
    options = {"hook": hook} if hook == "float16" else {"hook": hook, "begin_at": 2}
    over = {name: trained(*scheme("torch_ddp", backend=name, **options))[0] for name in ("gloo", "d5")}
    # Sums of two are the same in any order; torch's 16-bit sums round like ours.
    assert over["d5"] == pytest.approx(over["gloo"], rel=1e-6), hook
    assert ranks.size == 1 or over["d5"][3:] != ours[3:]  # the hook does something
    assert over["d5"] == pytest.approx(ours, rel=0.2), hook  # six steps from the same beginning
"""

SHARDED_UPDATES = """
ours, _ = trained("optimizer.name=sgd", "optimizer.learning_rate=0.1")
for name in ("consistent_decentralized", "torch/ddp"):
    losses, _ = trained("optimizer.name=torch_zero:learning_rate=0.1:backend=gloo", *scheme(name))
    # torch may fuse x - rate * g, which d5 rounds twice: 2^-24 a step.
    assert losses == pytest.approx(ours, rel=1e-5), name
adam, _ = trained("optimizer.name=torch_zero:rule=Adam:learning_rate=0.001")
own, _ = trained("optimizer.name=adam", "optimizer.learning_rate=0.001")
assert adam == pytest.approx(own, rel=1e-4)  # both take epsilon and the corrections as the paper has them
"""

REFUSALS = """
def refused(kind, words, *changes):
    try:
        trained(*changes)
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

refused(d5.NotFound, "hook 'zip' is unknown", *scheme("torch_ddp", hook="zip"))
refused(d5.NotFound, "backend 'nccl' is unknown", *scheme("torch_ddp", backend="nccl"))
refused(d5.ValueError, "hook is 'zip'", *scheme("torch/ddp", hook="zip"))
refused(d5.NotFound, "no group named 'mine'", *scheme("torch/ddp", process_group="mine"))
refused(d5.NotFound, "torch.optim has no class 'Zip'", "optimizer.name=torch_zero:rule=Zip")
assert len(trained(*scheme("torch/ddp"))[0]) == 6  # nothing is left under way
rows, _ = d5.train("mnist-lenet-quick", overrides=["training.epochs=1", "training.most_batches=2"],
                   distributed="torch_ddp:backend=gloo")
assert {row.conditions.get("backend") for row in rows} == {"gloo"}
"""


PARTS = {"hooks": (HOOKS, 1, 3), "sharded updates": (SHARDED_UPDATES, 2), "refusals": (REFUSALS, 2)}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    return Parts(tmp_path_factory.mktemp("ddp"), BEGIN, PARTS)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_recipe_trains_by_torchs_distribution_and_its_hooks(parts, ranks):
    parts.check("hooks", ranks)


def test_sharded_updates_of_torch_are_those_of_one_optimizer(parts):
    parts.check("sharded updates", 2)


def test_unknown_words_are_refused_on_all_ranks(parts):
    parts.check("refusals", 2)
