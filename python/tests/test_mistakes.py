# SPDX-License-Identifier: Apache-2.0
"""Mistakes of a first day: each is an error that says who was given what, in one line."""

from typing import Any, cast

import numpy as np
import pytest
from rank_jobs import alone

import d5

IMAGE = np.zeros((1, 1, 28, 28), np.float32)
DATA = d5.tensor_dataset({"image": np.zeros((4, 1, 28, 28), np.float32), "label": np.arange(4)})


def lenet():
    return d5.executor(d5.model("lenet", with_loss=True))


def sgd():
    return d5.optimizer("sgd", lenet())


def of_torch():
    return pytest.importorskip("torch")


def module():
    of_torch()
    import d5.torch as d5torch

    return d5torch.module(d5.model("lenet"))


def added(**attributes):
    network = d5.Network("one")
    network.add_input("x", "float32", [1, 2])
    network.add_node("Concat", ["x", "x"], ["y"], **attributes)
    network.add_output("y")
    return d5.executor(network).inference({"x": np.ones((1, 2), np.float32)})["y"].shape


def rule_with_swapped_arguments():
    class Swapped(d5.UpdateRule):
        def update(self, value, gradient):  # type: ignore[override]
            value -= gradient


ANY: Any = object()
MISTAKES = {
    "a list for a number": (lambda: d5.model("lenet", seed=[1]), r"d5.model: seed is \[1\], expected int"),
    "a list for a rate": (lambda: d5.optimizer("sgd", lenet(), learning_rate=[0.1]), r"learning_rate is \[0.1\], expected float"),
    "an array for a number": (lambda: d5.model("lenet", seed=np.array([1, 2])), "option seed is '1,2', expected an integer"),
    "a wish that no model has": (lambda: d5.open_model("lenet", sed=1), "option of a model 'sed' is unknown; did you mean seed"),
    "a wish of text": (lambda: d5.open_model("lenet", seed="1"), "d5.open_model: seed is '1', expected int"),
    "a negative dimension": (lambda: d5.Network("a").add_input("x", "float32", [-1, 2]), "input 'x' has a dimension of -1; expected 0 or more"),
    "masked elements": (lambda: d5.Tensor(np.ma.masked_array([1.0, 2.0], mask=[False, True])), r"masked elements; x.filled\(0\)"),
    "rows of other lengths": (lambda: d5.Tensor([[1], [1, 2]]), "list cannot become a tensor: .*inhomogeneous"),
    "a sparse tensor": (lambda: d5.Tensor(of_torch().zeros(2).to_sparse()), "Tensor cannot become a tensor: .*; expected dense elements"),
    "a tensor without memory": (lambda: d5.Tensor(of_torch().zeros(2, device="meta")), "Tensor cannot become a tensor: .*meta"),
    "flags for indices": (lambda: d5.subset(DATA, np.array([True, False, True, False])), r"d5.subset: samples is .*; np.flatnonzero\(samples\)"),
    "flags of torch for indices": (lambda: d5.subset(DATA, of_torch().tensor([True, False])), r"np.flatnonzero\(samples\)"),
    "real indices": (lambda: d5.subset(DATA, cast(Any, [1.5])), r"d5.subset: samples is \[1.5\], expected Sequence\[int\]"),
    "no list of modifiers": (lambda: d5.optimizer("sgd", lenet(), modifiers=None), "a modifier is None; expected a name"),
    "a number for a step": (lambda: d5.transformed(DATA, cast(Any, [3])), "a step is 3, expected a name, or a dict with a name and settings"),
    "a dict for an assignment": (lambda: d5.recipe("mnist-lenet-quick").changed(cast(Any, {"training.epochs": 1})), "gave {.*}, expected a text such as 'training.epochs=2'"),
    "say": (lambda: d5.train("mnist-lenet-quick", say="yes"), "say is 'yes', expected a function of a line"),
    "a text for a number": (lambda: d5.train("mnist-lenet-quick", checkpoint_every="5"), "checkpoint_every is '5', expected int"),
    "a value of the recipe": (lambda: d5.train("mnist-lenet-quick", epochs=3), r"'epochs' is unknown.*recipe.changed\(\"training.epochs=2\"\), or by overrides"),
    "None for an input": (lambda: lenet().inference({"image": None, "label": np.zeros(1, int)}), r"input 'image' is float32 Nx1x28x28, but nothing \(None\) was fed"),
    "a rule's arguments in another order": (rule_with_swapped_arguments, r"Swapped: update takes \(self, value, gradient\) in another order than d5.UpdateRule, which calls update\(gradient, value, slots\)"),
    "a group without a name": (lambda: d5.optimizer("sgd", lenet(), groups=[{"parameters": "*.bias", "learning_rate": 0.1}]), "groups: entry 0 .* has no name, which is its pattern; it has learning_rate, parameters"),
    "groups that set nothing": (lambda: d5.optimizer("sgd", lenet(), groups=["fc3.*"]), "groups of parameters: 'fc3.\\*' has no option of its own"),
    "no steps to compare": (lambda: d5.test_optimizer(sgd, sgd, d5.sampler("ordered", DATA, batch_size=2), steps=0), "test_optimizer: steps is 0, expected at least 1"),
    "a schedule without its length": (lambda: d5.optimizer("sgd", lenet(), schedules={"learning_rate": "cosine"}), "schedule cosine: give its length"),
    "a limit without a unit": (lambda: d5.find_peak(lambda sample: sample, "p99<=50"), 'objective .p99<=50.: expected a percentile and a bound, as "p99<=50ms"'),
    "initials for an option": (lambda: d5.train("mnist-lenet-quick", overrides={"optimizer.lr": 0.1}), "'optimizer.lr' is unknown; did you mean optimizer.learning_rate"),
    "framework twice": (lambda: d5.train("mnist-lenet-quick", framework="torch", frameworks=["torch"]), "framework and frameworks are one keyword"),
    "numbers for rows": (lambda: d5.Measurements(cast(Any, [1, 2])), "d5.Measurements: a row is 1, expected a d5.Measurement"),
    "a batch of nothing": (lambda: d5.bench_network("lenet", batch=0), "batch is 0, expected a number of samples, at least 1"),
    "a size of nothing": (lambda: d5.check_network("lenet", dims={"N": -1}), "the size of dimension 'N' is -1, expected at least 1"),
    "an infinite tolerance": (lambda: d5.check_network("lenet", rtol=np.inf), "rtol is inf, expected a finite number >= 0"),
    "no kernels": (lambda: d5.overlap_map({}), "d5.overlap_map: kernels is {}, expected functions by name"),
    "a misspelt framework": (lambda: d5.scale("mnist-lenet-quick", framework="referense"), "framework 'referense' is unknown; did you mean reference"),
    "a misspelt framework of an operator": (lambda: d5.test_forward("Relu 3", "referense"), "framework 'referense' is unknown; did you mean reference"),
    "a misspelt framework of a model": (lambda: d5.evaluate("efficientnet-lite0", frameworks="referense"), "framework 'referense' is unknown; did you mean reference"),
    "a number for work": (lambda: d5.run_work(cast(Any, {"mine": 3})), "the work 'mine' is 3, expected a function"),
    "a class of another kind": (lambda: d5.operator("Mine")(cast(Any, int)), "d5.operator: Mine is <class 'int'>, expected a class that derives from d5.Operator"),
    "a module's input": (lambda: module()(3), "the module's input 'image' is 3, expected a tensor of torch"),
    "an optimizer of torch": (
        lambda: d5.optimizer(of_torch().optim.SGD([of_torch().zeros(1, requires_grad=True)], 0.1), lenet()),
        r"d5.torch.Optimizer\(torch.optim.SGD, learning_rate=",
    ),
    "a loader": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), of_torch().utils.data.DataLoader([1])), r"expected Sampler; d5.torch.sampler\(loader, fields\)"),
    "a data set for a sampler": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), cast(Any, DATA)), r"expected Sampler; d5.sampler\("),
    "a network for an executor": (lambda: d5.optimizer("sgd", cast(Any, d5.model("lenet"))), r"expected GraphExecutor; d5.executor\(network\)"),
    "a name for a network": (lambda: d5.executor(cast(Any, "lenet")), r"expected Network; d5.model\(name\)"),
    "a gradient that was not asked for": (lambda: lenet().gradient("fc3.weight"), "name it in the option gradients, and run backpropagation"),
}  # fmt: skip


@alone("every rank would do the same")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_in_one_line(mistake):
    call, text = MISTAKES[mistake]
    with pytest.raises(d5.Error, match=text) as told:
        call()
    assert "\n" not in str(told.value)


def test_what_people_give_is_taken():
    torch = of_torch()
    assert added(axis=np.int64(1)) == (1, 4) and added(axis=1) == (1, 4)
    assert len(d5.subset(DATA, torch.arange(3))) == len(d5.subset(DATA, np.arange(3))) == len(d5.subset(DATA, range(3))) == 3
    assert len(d5.subset(DATA, [])) == 0 and len(d5.subset(DATA, (0, 1))) == 2
    assert d5.Tensor(np.ma.masked_array([1.0, 2.0])).tolist() == [1, 2]
    assert d5.optimizer("sgd", lenet(), modifiers="ema") and d5.optimizer("sgd", lenet(), modifiers=[])


@alone("each would train by itself, which is refused")
def test_a_training_takes_one_framework_or_several_and_metrics_as_text():
    few = {"training.epochs": 1, "training.most_batches": 1}
    for words in ({"framework": "reference"}, {"frameworks": "reference"}, {"frameworks": ["reference"]}):
        rows = d5.train("mnist-lenet-quick", overrides=few, metrics="throughput", **words).rows
        assert rows.where(metric="throughput") and {row.framework for row in rows} == {"reference"}
