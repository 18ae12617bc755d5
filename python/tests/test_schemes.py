# SPDX-License-Identifier: Apache-2.0
"""Schemes written in Python, in jobs of several ranks."""

import pytest
from rank_jobs import ROOT, launch, run

SCHEMES = """
import d5

class Averaged(d5.DistributedOptimizer):
    "Gradients of all ranks, by one call a parameter."

    def __init__(self, twice: bool = False):
        self.twice = twice
        self.heard = []

    def begin(self, ranks, optimizer):
        self.ranks, self.network = ranks, optimizer.network
        made.append(self)

    def exchange(self, share):
        self.heard.append("exchange")
        for parameter in self.network.parameters:
            parameter.gradient.numpy()[...] *= share * (2 if self.twice else 1)
            self.ranks.all_reduce(parameter.gradient)

    def after_step(self):
        self.heard.append("after_step")

    def begin_test(self):
        self.heard.append("begin_test")

    def end_test(self):
        self.heard.append("end_test")

class Apart(d5.DistributedOptimizer):
    "Lacks exchange."

made = []
d5.register("averaged")(Averaged)
d5.register("apart")(Apart)
ranks = d5.world()

def trained(*changes):
    recipe = d5.recipe("mnist-lenet-quick").changed("training.epochs=1", "training.most_batches=3",
                                                    "sampler.batch_size=24", *changes)
    rows, _ = d5.train(recipe)
    return {row.metric: row for row in rows}["loss"]

ours, theirs = trained(), trained("distributed.name=averaged")
# Halves are exact, and a sum of two is rounded once in any order; of three at 2^-24.
assert theirs.samples == (ours.samples if ranks.size < 3 else pytest.approx(ours.samples, rel=1e-5))
if ranks.size > 1:
    assert theirs.conditions["distributed"] == "averaged" and theirs.conditions["twice"] == "false"
    assert made[0].heard == ["exchange", "after_step"] * 3 + ["begin_test", "end_test"]
    assert trained("distributed.name=averaged:twice=true").samples[1:] != ours.samples[1:]
    for kind, words, name in ((d5.TypeError, "no method exchange", "apart"),
                              (d5.NotFound, "twise", "averaged:twise=true")):
        try:
            trained("distributed.name=" + name)
        except kind as error:
            assert words in str(error), error
        else:
            raise AssertionError(name)
tell(ranks.rank, "ended")
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_scheme_in_python_trains_as_d5s_own(tmp_path, ranks):
    run(tmp_path, "import pytest\n" + SCHEMES, ranks)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_scheme_with_a_step_of_its_own_has_the_bits_of_d5s_own(ranks):
    """Plain, with a modifier that wants all gradients, with a schedule; the example asserts it."""
    job = launch(ROOT / "examples" / "115_own_scheme.py", ranks)
    assert job.returncode == 0, job.stderr
    assert job.stdout.count("of d5's own") == 3
