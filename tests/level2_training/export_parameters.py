#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what d5 trains of an exported file to what PyTorch trains of the module: how many numbers
are parameters, and the loss of each step.

usage: export_parameters.py [NETWORK ...]

Each network is exported by the exporter that traces and, where onnxscript is installed, by the one
that captures, as it is and optimized. The traced file is then written again as other exporters write
theirs: each parameter is a Constant node, by itself and behind Identity, Transpose, Reshape, Cast.
d5 loads the files and makes ten steps of SGD on PyTorch's batches.

Allowed is 2e-5 of a loss, some hundred roundings of float32.

Exit status 4: a judge, or d5's Python module, is not installed.
"""

import copy
import importlib.util
import pathlib
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "level1_network"))
import exports  # noqa: E402  (exits with 4 where a judge is missing)
from exports import d5, numpy, torch  # noqa: E402

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

nn = torch.nn
STEPS, RATE, ALLOWED = 10, 0.1, 2e-5


class Groups(nn.Module):
    """Normalizations with and without parameters of their own."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(4, 8, affine=False), nn.PReLU(8),
            nn.Conv2d(8, 8, 1), nn.InstanceNorm2d(8, affine=True), nn.SiLU())
        self.score = nn.Linear(8, 4)

    def forward(self, x):
        return self.score(self.body(x).amax((2, 3)))


class Instances(nn.Module):
    """A normalization without parameters, whose ones and zeros are the exporter's alone. In a file of
    Constants they may be what training begins with."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.InstanceNorm2d(8), nn.SiLU())
        self.score = nn.Linear(8, 4)

    def forward(self, x):
        return self.score(self.body(x).amax((2, 3)))


class Buffers(nn.Module):
    """Numbers of the module that are no parameters, and parameters of one number."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.randn(6))
        self.register_buffer("place", torch.randn(8))
        self.step = nn.Parameter(torch.tensor(0.7))
        self.gain = nn.Parameter(torch.ones(8))
        self.first, self.norm = nn.Linear(6, 8), nn.LayerNorm(8)
        self.last = nn.Linear(8, 4)

    def forward(self, x):
        x = self.first((x - self.mean) / 1.3) + self.place
        return self.last(torch.tanh(self.norm(x) * self.gain) * self.step * 1.7 + 0.25)


class One(nn.Module):
    """A score from one number: a bias of one element."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 1), nn.Linear(1, 4, bias=False)

    def forward(self, x):
        return self.last(torch.sigmoid(self.first(x)) * 2)


def matrices():
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 4))


# Network: how it is made, the shape of its input, what only the module knows to be a buffer, and
# whether its parameters are known as Constants.
NETWORKS = {"groups": (Groups, (5, 3, 6, 6), [], True),
            "instances": (Instances, (5, 3, 6, 6), [], False),
            "buffers": (Buffers, (5, 6), ["mean", "place"], False),
            "one": (One, (5, 6), [], True), "matrices": (matrices, (5, 6), [], True)}


def make(name):
    torch.manual_seed(3)
    network = NETWORKS[name][0]()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.2 * torch.randn(parameter.shape)
    return network


def batches(name):
    generator = torch.Generator().manual_seed(5)
    shape = NETWORKS[name][1]
    return [(torch.randn(*shape, generator=generator),
             torch.randint(0, 4, shape[:1], generator=generator)) for _ in range(STEPS)]


def losses_of_torch(network, data):
    network = copy.deepcopy(network).train()
    rule = torch.optim.SGD(network.parameters(), lr=RATE)
    losses = []
    for x, classes in data:
        loss = nn.functional.cross_entropy(network(x), classes)
        rule.zero_grad()
        loss.backward()
        rule.step()
        losses.append(loss.item())
    return losses


def losses_of_d5(network, data):
    d5.append_loss(network, "cross_entropy", target="class")
    rule = d5.optimizer("sgd", d5.executor(network), "loss", learning_rate=RATE)
    return [float(rule.step({"x": x.numpy(), "class": classes.numpy()})["loss"].numpy())
            for x, classes in data]


def traced(network, x, path):
    torch.onnx.export(network, (x,), path, dynamo=False, do_constant_folding=False,
                      training=torch.onnx.TrainingMode.PRESERVE, input_names=["x"],
                      output_names=["y"])


def captured(network, x, path, optimize):
    torch.onnx.export(network, (x,), path, dynamo=True, optimize=optimize, verbose=False,
                      input_names=["x"], output_names=["y"])


def plain(value, name):
    return [helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))]


def identical(value, name):
    return plain(value, name + ".held") + [helper.make_node("Identity", [name + ".held"], [name])]


def transposed(value, name):
    return plain(numpy.ascontiguousarray(value.T), name + ".held") + [
        helper.make_node("Transpose", [name + ".held"], [name])]


def reshaped(value, name):
    shape = numpy.array(value.shape, numpy.int64)
    return plain(value.reshape(-1), name + ".flat") + plain(shape, name + ".shape") + [
        helper.make_node("Reshape", [name + ".flat", name + ".shape"], [name])]


def cast(value, name):
    return plain(value.astype(numpy.float64), name + ".wide") + [
        helper.make_node("Cast", [name + ".wide"], [name], to=onnx.TensorProto.FLOAT)]


HOLDERS = (plain, identical, transposed, reshaped, cast)


def as_constants(path, hold, target):
    """Every initializer becomes a Constant, of a name that says nothing."""
    model = onnx.load(path)
    model.producer_name = "PaddlePaddle"
    held, names = [], {}
    for number, tensor in enumerate(model.graph.initializer):
        names[tensor.name] = f"p2o.{number}"
        held += hold(numpy_helper.to_array(tensor).copy(), names[tensor.name])
    for node in model.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = names.get(name, name)
    nodes = held + list(model.graph.node)
    del model.graph.node[:], model.graph.initializer[:], model.graph.value_info[:]
    model.graph.node.extend(nodes)
    onnx.save(model, target)


def judge(what, path, network, data, frozen=()):
    loaded = d5.Network.load(path)
    if frozen:
        d5.freeze(loaded, list(frozen))
    expected = sum(p.numel() for p in network.parameters())
    got = sum(p.value.numpy().size for p in loaded.parameters)
    found = [] if got == expected else [f"{what}: {got} numbers are parameters, PyTorch has {expected}"]
    truth = losses_of_torch(network, data)
    losses = losses_of_d5(loaded, data)
    error = max(abs(a - b) / abs(b) for a, b in zip(losses, truth))
    print(f"{what}: {got} numbers, losses {losses[0]:.4f} to {losses[-1]:.4f}, off by {error:.1e}",
          flush=True)
    assert abs(truth[-1] - truth[0]) > 1e-3, "nothing was trained"
    return found + ([] if error <= ALLOWED else [f"{what}: a loss is {error:.2e} off"])


def main(*names):
    torch.backends.mha.set_fastpath_enabled(False)
    captures = importlib.util.find_spec("onnxscript") is not None
    failures = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names or NETWORKS:
            network, data, buffers = make(name), batches(name), NETWORKS[name][2]
            path = str(pathlib.Path(folder) / f"{name}.onnx")
            traced(network, data[0][0], path)
            failures += judge(f"{name}, traced", path, network, data, buffers)
            if NETWORKS[name][3]:
                for hold in HOLDERS:
                    again = str(pathlib.Path(folder) / f"{name}.{hold.__name__}.onnx")
                    as_constants(path, hold, again)
                    failures += judge(f"{name}, constants, {hold.__name__}", again, network, data)
            for optimize in (False, True) if captures else ():
                captured(network, data[0][0], path, optimize)
                failures += judge(f"{name}, captured, {'optimized' if optimize else 'as it is'}", path,
                                  network, data)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
