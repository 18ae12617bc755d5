# SPDX-License-Identifier: Apache-2.0
"""Networks as torch's modules and torch's modules as networks: memory, names, copies, derivatives."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import d5
import d5.torch as d5torch


def line(values=(2.0, 3.0)):
    """y = x w + b."""
    network = d5.Network("line")
    network.add_input("x", "float32", ["N", 2])
    network.add_parameter("fc.weight", np.float32(values).reshape(2, 1))
    network.add_parameter("fc.bias", np.zeros(1, np.float32))
    network.add_node("Gemm", ["x", "fc.weight", "fc.bias"], ["y"])
    network.add_output("y")
    return network


X = torch.tensor([[1.0, 1.0]])


def test_parameters_in_other_memory_are_what_the_network_computes_with():
    module = d5torch.module(line())
    assert module(X).item() == 5
    module.fc.weight.data = torch.tensor([[4.0], [5.0]])
    assert module(X).item() == 9
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    module(X).sum().backward()
    optimizer.step()  # every slope is 1
    assert module(X).item() == 9 - 3
    module.load_state_dict({"fc.weight": torch.ones(2, 1), "fc.bias": torch.ones(1)}, assign=True)
    assert module(X).item() == 3
    assert module.d5_network.parameters["fc.bias"].value.item() == 1


@pytest.mark.parametrize("change", [lambda module: module.double(), lambda module: module.to(torch.bfloat16)])
def test_a_type_that_the_network_has_not_is_refused_by_name(change):
    module = d5torch.module(line())
    change(module)
    with pytest.raises(d5.TypeError, match="'fc.*' is torch.* but its network has torch.float32"):
        module(X)
    module.float()
    assert module(X).item() == 5


def test_a_functional_call_leaves_the_modules_own_parameters_alone():
    module: Any = d5torch.module(line())
    other: Any = {"fc.weight": torch.tensor([[7.0], [8.0]], requires_grad=True), "fc.bias": torch.zeros(1)}
    own = module(X)
    called = torch.func.functional_call(module, other, (X,))
    assert called.item() == 15 and module(X).item() == 5
    (own + 2 * called).sum().backward()
    assert module.fc.weight.grad.flatten().tolist() == [1, 1] and other["fc.weight"].grad.flatten().tolist() == [2, 2]


def test_a_run_that_is_under_way_goes_back_with_its_own_parameters():
    """x w w: the slope is x (w1 + w2) for its own w."""
    network = d5.Network("square")
    network.add_input("x", "float64", [1])
    network.add_parameter("w", np.array([3.0]))
    network.add_node("Mul", ["x", "w"], ["xw"])
    network.add_node("Mul", ["xw", "w"], ["y"])
    network.add_output("y")
    module, x = d5torch.module(network), torch.ones(1, dtype=torch.float64)
    first, second = ({"w": torch.tensor([w], dtype=torch.float64, requires_grad=True)} for w in (3.0, 5.0))
    runs = [torch.func.functional_call(module, one, (x,)) for one in (first, second)]
    runs[0].sum().backward()
    runs[1].sum().backward()
    assert first["w"].grad.item() == 6 and second["w"].grad.item() == 10


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["deepcopy", "pickle"])
def test_a_module_an_operator_and_a_network_are_copied(copied):
    module = d5torch.module(line()).eval()
    twin = copied(module)
    twin.fc.weight.data.fill_(1)
    assert twin(X).item() == 2 and module(X).item() == 5 and not twin.training
    twin(X).sum().backward()
    torch.optim.SGD(twin.parameters(), lr=1.0).step()
    assert twin.d5_network.parameters["fc.weight"].value.numpy().flatten().tolist() == [0, 0]
    leaky = copied(d5torch.custom_op("LeakyRelu", alpha=0.5))
    assert leaky(torch.tensor([-2.0])).item() == -1
    network = copied(d5torch.network(torch.nn.Linear(2, 1), X))
    assert {one.name for one in network.parameters} == {"weight", "bias"}


def test_second_derivatives_are_refused_as_torch_refuses_them():
    sine = d5torch.custom_op("Sin")
    x = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(sine, (x,))
    (slope,) = torch.autograd.grad(sine(x).sum(), x, create_graph=True)
    torch.testing.assert_close(slope, x.cos())
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope.sum().backward()
    module = d5torch.module(line())
    loss = module(X).square().sum()
    slopes = torch.autograd.grad(loss, list(module.parameters()), create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        sum(one.square().sum() for one in slopes).backward()


def normalized():
    torch.manual_seed(3)
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten())
    module[1].running_mean.uniform_(-1, 1)
    module[1].running_var.uniform_(0.5, 2)
    return module


@pytest.mark.parametrize("training", [True, False])
def test_an_export_keeps_the_layers_and_the_names(training):
    module, x = normalized().train(training), torch.randn(8, 1, 6, 6)
    before = copy.deepcopy(module.state_dict())
    network = d5torch.network(module, x)
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)
    assert [node.op_type for node in network.nodes] == ["Conv", "BatchNormalization", "Relu", "Flatten"]
    assert {one.name for one in network.parameters} == {name for name, _ in module.named_parameters()}
    again = d5torch.module(network).train(training)
    torch.testing.assert_close(again(x), module(x), rtol=1e-4, atol=1e-5)


def test_a_state_dict_goes_both_ways():
    module, x = normalized(), torch.randn(8, 1, 6, 6)
    ours = d5torch.module(d5torch.network(module, x))
    with torch.no_grad():
        for one in module.parameters():
            one.add_(1)
    ours.load_state_dict(module.state_dict())
    torch.testing.assert_close(ours.eval()(x), module.eval()(x), rtol=1e-4, atol=1e-5)
    ours.train()(x)  # moves the statistics
    other = normalized()
    other.load_state_dict(ours.state_dict())
    torch.testing.assert_close(other[1].running_mean, ours.get_submodule("1").running_mean, rtol=0, atol=0)
    torch.testing.assert_close(other.eval()(x), ours.eval()(x), rtol=1e-4, atol=1e-5)


def test_the_statistics_of_training_are_torchs():
    """torch counts an unbiased variance, ONNX a biased one; the mean is the same."""
    module, x = normalized().train(), torch.randn(8, 1, 6, 6)
    ours = d5torch.module(d5torch.network(module, x)).train()
    ours(x), module(x)
    torch.testing.assert_close(ours.get_submodule("1").running_mean, module[1].running_mean, rtol=1e-4, atol=1e-5)
    ours.load_state_dict(copy.deepcopy(ours.state_dict()), assign=True)  # elsewhere now
    ours(x), module(x)
    torch.testing.assert_close(ours.get_submodule("1").running_mean, module[1].running_mean, rtol=1e-4, atol=1e-5)


def test_a_batch_is_open_where_it_is_wanted():
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    x = torch.randn(5, 2)
    executor = d5.executor(d5torch.network(module, X, dynamic=True))
    (given,) = executor.inference({"input": x}).values()
    torch.testing.assert_close(torch.from_dlpack(given), module(x).detach(), rtol=1e-5, atol=1e-6)
    with pytest.raises(d5.ShapeError):
        d5.executor(d5torch.network(module, X, input_names=["input"])).inference({"input": x})


class Noise(torch.nn.Module):  # type: ignore[name-defined,misc]
    def forward(self, x: Any) -> Any:
        return torch.nn.functional.dropout(x.mean(0, keepdim=True) + x, 0.5, self.training)


@pytest.mark.parametrize("made", [normalized, lambda: normalized().eval(), Noise, lambda: torch.nn.Linear(6, 2).double()])
@pytest.mark.parametrize("batch", [2, 3, 8])
def test_a_module_with_an_open_batch_is_tried_and_stays_as_it_was(made, batch):
    module = made()
    before = copy.deepcopy(module.state_dict())
    x = torch.randn(batch, 1, 6, 6, dtype=next((one.dtype for one in module.parameters()), torch.float32))
    assert d5torch.network(module, x, dynamic=True).input_names
    for name, value in module.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)


def test_buffers_and_parameters_that_a_refused_module_changes_are_restored():
    class Counting(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("calls", torch.zeros(1))
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            self.calls += 1
            self.seen = x.sum(0)  # another tensor, of another shape
            with torch.no_grad():
                self.weight.mul_(2)
            return x * self.weight

    module = Counting()
    kept = {name: one for name, one in [*module.named_parameters(), *module.named_buffers()]}
    with pytest.raises(d5.Unsupported, match="the module's forward changes 'weight'"):
        d5torch.network(module, torch.ones(3, 2))
    now = {name: one for name, one in [*module.named_parameters(), *module.named_buffers()]}
    assert all(now[name] is one for name, one in kept.items()) and now["weight"].tolist() == [1, 1]
    assert now["calls"].item() == now["seen"].item() == 0


def test_a_name_that_torch_cannot_hold_is_refused():
    network = d5.Network("odd")
    network.add_input("x", "float32", [1])
    network.add_parameter("forward", np.ones(1, np.float32))
    network.add_node("Mul", ["x", "forward"], ["y"])
    network.add_output("y")
    with pytest.raises(d5.ValueError, match="'forward' is no name for a tensor of a torch module"):
        d5torch.module(network)


def test_equal_parameters_of_an_export_for_inference_stay_apart():
    module = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    with torch.no_grad():
        module[2].bias.zero_(), module[3].bias.zero_()
    network = d5torch.network(module.eval(), torch.zeros(2, 4), dynamic=True)
    assert {parameter.name for parameter in network.parameters} == {name for name, _ in module.named_parameters()}
    assert network.input_names == ["input"]
    x = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_allclose(d5.executor(network).inference({"input": x})[network.output_names[0]], module(torch.from_numpy(x)).detach(), atol=1e-5)


class Scaled(torch.nn.Module):  # type: ignore[name-defined,misc]
    """A frozen layer, a trained one, and a number in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.below, self.above = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
        self.register_buffer("scale", torch.tensor([0.5, 2.0]))
        self.below.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        return self.above(self.below(x).relu()) * self.scale


@pytest.mark.parametrize("copied", [lambda net: net, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_what_torch_does_not_train_is_not_trained(copied):
    module: Any = Scaled()
    x = torch.randn(5, 3)
    network = copied(d5torch.network(module, x))
    assert {one.name for one in network.parameters} == {"above.weight", "above.bias"}
    assert set(network.parameter_notes.constants) == {"below.weight", "below.bias", "scale"}
    ours = d5torch.module(network)
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (ours, module)]
    for one, optimizer in zip((ours, module), optimizers):
        one(x).square().sum().backward()
        optimizer.step()
    assert set(ours.state_dict()) == set(module.state_dict())
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, module.state_dict()[name], rtol=1e-4, atol=1e-6)
    fresh = Scaled()
    ours.load_state_dict(fresh.state_dict())
    torch.testing.assert_close(ours(x), fresh(x), rtol=1e-4, atol=1e-6)
    d5.unfreeze(network, ["below.weight"])
    assert "below.weight" in {one.name for one in network.parameters}


def test_a_module_that_is_frozen_as_a_whole_has_no_parameters():
    module: Any = Scaled().requires_grad_(False)
    x = torch.randn(5, 3)
    network = d5torch.network(module, x)
    assert len(network.parameters) == 0
    ours = d5torch.module(network)
    torch.testing.assert_close(ours(x), module(x), rtol=1e-4, atol=1e-6)
    assert set(ours.state_dict()) == set(module.state_dict())


def test_a_buffer_that_torch_does_not_save_may_be_missing_in_a_state():
    module: Any = Scaled()
    x = torch.randn(5, 3)
    module.register_buffer("scale", torch.tensor([0.5, 2.0]), persistent=False)
    ours = d5torch.module(d5torch.network(module, x))
    ours.load_state_dict(module.state_dict())
    torch.testing.assert_close(ours(x), module(x), rtol=1e-4, atol=1e-6)
    state = module.state_dict()
    del state["above.bias"]
    with pytest.raises(RuntimeError, match="above.bias"):
        ours.load_state_dict(state)


def test_tied_weights_have_one_name_and_states_are_exchanged_without_the_other():
    class Tied(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self):
            super().__init__()
            self.below, self.above = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            self.above.weight = self.below.weight

        def forward(self, x):
            return self.above(torch.relu(self.below(x)))

    module, other, x = Tied(), Tied(), torch.randn(5, 3)
    ours = d5torch.module(d5torch.network(module, x))
    assert "below.weight" in ours.state_dict() and "above.weight" not in ours.state_dict()
    ours.load_state_dict(other.state_dict(), strict=False)
    torch.testing.assert_close(ours(x), other(x), rtol=1e-4, atol=1e-6)
    module.load_state_dict(ours.state_dict(), strict=False)
    torch.testing.assert_close(module(x), other(x), rtol=1e-4, atol=1e-6)
