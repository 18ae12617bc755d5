# SPDX-License-Identifier: Apache-2.0
"""d5.torch: d5's operators and networks in torch, torch's modules, loaders and optimizers in d5."""

import pathlib
from typing import Any, cast

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import d5
import d5.torch as d5torch

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def median_pooling():
    source = EXAMPLES / "111_median_pooling" / "median_pooling.cpp"
    return d5.op.compile(source, definitions={"DTYPE": "double"})


def medians(x, size):
    """By torch: unfold, then its median, the lower one of an even number."""
    windows = x.unfold(2, size, size).unfold(3, size, size).flatten(-2)
    return windows.median(-1).values


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_operator_in_cpp_is_a_function_of_torch(median_pooling, size):
    pool = d5torch.custom_op(median_pooling, size=size)
    x = torch.randn(2, 3, 6, 7, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(pool(x), medians(x, size), rtol=0, atol=0)
    assert torch.autograd.gradcheck(pool, (x,))
    (slope,) = torch.autograd.grad(pool(x).square().sum(), x)
    (expected,) = torch.autograd.grad(medians(x, size).square().sum(), x)
    torch.testing.assert_close(slope, expected, rtol=0, atol=0)
    with torch.no_grad():
        assert not pool(x).requires_grad


def test_calls_may_be_under_way_at_once(median_pooling):
    pool = d5torch.custom_op(median_pooling, size=2)
    a, b = (torch.randn(1, 1, 4, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    (pool(a).sum() + 2 * pool(b).sum()).backward()
    assert a.grad.sum() == 4 and b.grad.sum() == 8


def test_an_operator_compiled_for_another_type_says_so(median_pooling):
    with pytest.raises(d5.TypeError, match="elements of type 1, expected 11"):
        d5torch.custom_op(median_pooling)(torch.zeros(1, 1, 2, 2))
    with pytest.raises(d5.ValueError, match="one operator"):
        d5torch.custom_op(["a.B", "a.C"])


@pytest.mark.parametrize("op, name", [(torch.matmul, "MatMul"), (torch.add, "Add")])
def test_onnxs_operators_pass_gradcheck_too(op, name):
    a, b = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    function = d5torch.custom_op(name)
    torch.testing.assert_close(function(a, b), op(a, b))
    assert torch.autograd.gradcheck(function, (a, b))


def lenet():
    return d5.model("lenet", seed=2)


@pytest.mark.parametrize("framework", ["reference", "torch"])
def test_a_network_is_a_module_over_its_own_memory(framework):
    network = lenet()
    module = d5torch.module(network, framework)
    images = torch.randn(4, 1, 28, 28, requires_grad=True)
    logits = module(images)
    expected = d5.executor(network).inference({"image": images.detach()})
    torch.testing.assert_close(logits.detach(), torch.from_dlpack(next(iter(expected.values()))), rtol=1e-4, atol=1e-5)
    logits.square().sum().backward()
    assert images.grad.shape == images.shape
    assert len(list(module.parameters())) == len(network.parameters)
    before = [one.value.numpy().copy() for one in network.parameters]
    torch.optim.SGD(module.parameters(), lr=0.01).step()
    for one, parameter, old in zip(network.parameters, module.parameters(), before):
        assert parameter.data_ptr() == one.value.numpy().ctypes.data
        np.testing.assert_allclose(one.value, old - 0.01 * parameter.grad.numpy(), rtol=1e-5, atol=1e-7)
    assert not torch.equal(module(images), logits)


def test_gradients_of_a_module_add_up_as_torchs():
    module = d5torch.module(lenet())
    images = torch.randn(2, 1, 28, 28)
    module(images).sum().backward()
    once = [one.grad.clone() for one in module.parameters()]
    module(images).sum().backward()
    for parameter, grad in zip(module.parameters(), once):
        torch.testing.assert_close(parameter.grad, 2 * grad)
    with pytest.raises(d5.TypeError, match="expected .'image'"):
        module(picture=images)


class Net(torch.nn.Module):  # type: ignore[name-defined,misc]
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(676, 10)
        )

    def forward(self, image):
        return self.layers(image)


def test_a_module_is_a_network():
    torch.manual_seed(0)
    module, images = Net(), torch.randn(3, 1, 28, 28)
    network = d5torch.network(module, images, input_names=["image"], output_names=["logits"])
    outputs = d5.executor(network).inference({"image": images})
    torch.testing.assert_close(torch.from_dlpack(outputs["logits"]), module(images).detach(), rtol=1e-4, atol=1e-5)
    assert {one.name for one in network.parameters} == {name for name, _ in module.named_parameters()}


def loader(shuffle):
    from torch.utils.data import DataLoader, TensorDataset

    x = torch.arange(10, dtype=torch.float32)
    return DataLoader(TensorDataset(x, x.long()), batch_size=4, shuffle=shuffle)


def test_a_data_loader_is_a_sampler_that_resumes():
    sampler = d5torch.sampler(loader(True), ["x", "label"], seed=3)
    assert isinstance(sampler, d5.Sampler) and len(sampler) == 3

    def take():  # as d5 asks for it
        return d5.Sampler.next(sampler)

    def epoch(number):
        sampler.seek(number, 0)
        return [batch.values["x"].numpy().tolist() for batch in iter(take, None)]

    first, second = epoch(0), epoch(1)
    assert sorted(sum(first, [])) == list(range(10)) and first != second
    torch.manual_seed(99)
    assert epoch(0) == first and epoch(1) == second
    sampler.seek(1, 2)
    assert take().values["label"].numpy().tolist() == [int(x) for x in second[2]]
    sampler.take_part(1, 2)
    sampler.seek(0, 0)
    assert take().values["x"].numpy().tolist() == first[0][2:]
    with pytest.raises(d5.TypeError, match="fields="):
        d5torch.sampler(loader(False)).next()
    with pytest.raises(d5.ShapeError, match="gives 2 tensors"):
        d5torch.sampler(loader(False), ["x"]).next()


KINDS = [
    (torch.optim.SGD, {"momentum": 0.9}),
    (torch.optim.Adam, {}),
    (torch.optim.AdamW, {"weight_decay": 0.1}),
    (torch.optim.RMSprop, {}),
]


@pytest.mark.parametrize("kind, options", KINDS)
def test_an_optimizer_of_torch_is_one_of_d5s(kind, options):
    network = d5.model("lenet", with_loss=True, seed=1)
    ours = d5.optimizer(d5torch.Optimizer(kind, learning_rate=0.01, **options), d5.executor(network))
    assert isinstance(ours, d5.Optimizer)
    copies = [torch.nn.Parameter(torch.from_dlpack(one.value).clone()) for one in network.parameters]
    theirs = kind(copies, lr=0.01, **options)
    batches = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=8)
    for batch, _ in zip(batches, range(3)):
        ours.step(batch)
        for copy, one in zip(copies, network.parameters):
            copy.grad = torch.from_dlpack(one.gradient).clone()
        theirs.step()
    for copy, one in zip(copies, network.parameters):
        torch.testing.assert_close(torch.from_dlpack(one.value), copy.detach(), rtol=0, atol=0)
    # Resumed it goes on with the same bits.
    other = d5.model("lenet", with_loss=True, seed=1)
    for mine, its in zip(other.parameters, network.parameters):
        mine.value = its.value
    resumed = d5.optimizer(d5torch.Optimizer(kind, learning_rate=0.01, **options), d5.executor(other))
    resumed.restore(ours.state())
    batch = next(batches)
    ours.step(batch), resumed.step(batch)
    for mine, its in zip(other.parameters, network.parameters):
        np.testing.assert_array_equal(mine.value, its.value)


def test_lbfgs_asks_for_gradients_again():
    network = d5.model("lenet", with_loss=True, seed=1)
    optimizer = d5.optimizer(d5torch.Optimizer(torch.optim.LBFGS, learning_rate=0.1, max_iter=3), d5.executor(network))
    batch = next(d5.sampler("ordered", d5.dataset("mnist").train, batch_size=32))
    losses = [optimizer.step(batch)["loss"].item() for _ in range(3)]
    assert losses[2] < losses[0]


def test_a_schedule_of_d5s_changes_an_optimizer_of_torchs():
    network = d5.model("lenet", with_loss=True, seed=1)
    optimizer = d5.optimizer(
        d5torch.Optimizer(torch.optim.SGD, learning_rate=1.0), d5.executor(network),
        schedules={"learning_rate": {"name": "linear", "length": 4}} if "linear" in d5.schedules() else {},
    )
    assert optimizer.hyper_parameters == {"learning_rate": 1.0}
    with pytest.raises(d5.TypeError, match="expected a class"):
        d5torch.Optimizer("adam")  # type: ignore[arg-type]


def test_an_object_that_is_no_loader_is_refused():
    data = torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.zeros(4))

    class Endless(cast(Any, torch.utils.data).IterableDataset):  # type: ignore[misc]
        def __iter__(self):
            return iter([(torch.zeros(2), 1)] * 5)

    for loader in (data, None, [1, 2]):
        with pytest.raises(d5.TypeError, match="^d5.torch.sampler: loader is .*, expected a DataLoader; torch.utils.data.DataLoader"):
            d5torch.sampler(loader, ["x", "y"])
    with pytest.raises(d5.TypeError, match="^d5.torch.sampler: the loader's Endless has no length"):
        d5torch.sampler(torch.utils.data.DataLoader(Endless(), batch_size=2), ["x", "y"])
    loader = torch.utils.data.DataLoader(data, batch_size=2)
    with pytest.raises(d5.ValueError, match=r"^d5.torch.sampler: fields is \['x', 'x'\], expected a name for each tensor, each once"):
        d5torch.sampler(loader, ["x", "x"])
    with pytest.raises(d5.TypeError, match="^d5.torch.sampler: fields is 'x', expected a list of names"):
        d5torch.sampler(loader, "x")


def test_names_of_an_export_are_a_list():
    with pytest.raises(d5.TypeError, match="^d5.torch.network: input_names is 'image', expected a list of names"):
        d5torch.network(torch.nn.Linear(2, 2), torch.zeros(1, 2), input_names="image")
