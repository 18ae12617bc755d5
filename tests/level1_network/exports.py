#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds networks that PyTorch exported against PyTorch itself: outputs, and gradients by parameter.

usage: exports.py [NETWORK ...]

Each network is exported with torch.onnx.export, by the exporter that traces and, where onnxscript is
installed, by the one that captures (dynamo=True). d5 loads the file and runs it at the sizes of the
export and at others, forward and backward. Expected is what PyTorch answers in float64, errors are
relative to a tensor's largest magnitude, and 1e-4 is allowed: some thousand roundings of float32.

Exit status 4: a judge, or d5's Python module, is not installed.
"""

import copy
import importlib.util
import pathlib
import sys
import tempfile
import warnings

try:
    import d5
    import numpy
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

nn = torch.nn
TOLERANCE = 1e-4


class Residual(nn.Module):
    """Two convolutions with batch normalization beside a shortcut. Source: He et al. (2015)."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        self.shortcut = nn.Conv2d(before, after, 1, stride)

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


class UNet(nn.Module):
    """Down, up, and across by concatenation. Source: Ronneberger et al. (2015)."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU())
        self.lower = nn.Sequential(nn.Conv2d(6, 12, 3, padding=1), nn.ReLU())
        self.lowest = nn.Sequential(nn.Conv2d(12, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.ReLU())
        self.up = nn.ConvTranspose2d(12, 12, 2, 2)
        self.back = nn.Conv2d(24, 6, 3, padding=1)
        self.wider = nn.Upsample(scale_factor=2, mode="nearest")
        self.out = nn.Conv2d(12, 2, 1)

    def forward(self, x):
        half = nn.functional.max_pool2d
        across = self.down(x)
        lower = self.lower(half(across, 2))
        up = self.up(self.lowest(half(lower, 2)))
        up = torch.relu(self.back(torch.cat([lower, up], 1)))
        return self.out(torch.cat([across, self.wider(up)], 1))


class Recurrent(nn.Module):
    """Two layers in both directions. Source: Hochreiter and Schmidhuber (1997)."""

    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(5, 7, num_layers=2, bidirectional=True)
        self.score = nn.Linear(14, 3)

    def forward(self, x):
        return self.score(self.cells(x)[0])


class Transformer(nn.Module):
    """Tokens to scores. Source: Vaswani et al. (2017)."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 24, dropout=0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.score = nn.Linear(16, 20)

    def forward(self, token):
        return self.score(self.layers(self.embed(token)))


def mlp():
    return nn.Sequential(nn.Linear(6, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 16),
                         nn.Tanh(), nn.Linear(16, 4), nn.LogSoftmax(-1))


def residual_cnn():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), Residual(8, 8, 1), Residual(8, 12, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 5))


def normal(*shape):
    return torch.randn(*shape)


def tokens(*shape):
    return torch.randint(0, 20, shape)


# Network: how it is made, what makes its input, the sizes of export and of another run, and the
# dimension that is left open.
NETWORKS = {
    "mlp": (mlp, normal, (3, 6), (8, 6), 0),
    "residual-cnn": (residual_cnn, normal, (2, 3, 8, 8), (5, 3, 8, 8), 0),
    "lstm": (Recurrent, normal, (4, 2, 5), (9, 2, 5), 0),
    "transformer-encoder": (Transformer, tokens, (2, 6), (3, 6), 0),
    "u-net": (UNet, normal, (1, 1, 16, 16), (2, 1, 16, 16), 0),
}


def make(name):
    """The network with numbers that are not those of its beginning: an export has equal ones once."""
    torch.manual_seed(3)
    network = NETWORKS[name][0]()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)
    return network.eval()


def export(network, example, open_dim, captured, path):
    """Parameters keep their names: nothing is folded into another."""
    if captured:
        shapes = {open_dim: torch.export.Dim("N", min=1, max=64)}
        torch.onnx.export(network, (example,), path, dynamo=True, optimize=False, verbose=False,
                          input_names=["x"], output_names=["y"], dynamic_shapes=(shapes,))
    else:
        torch.onnx.export(network, (example,), path, dynamo=False, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.PRESERVE, input_names=["x"],
                          output_names=["y"], dynamic_axes={"x": {open_dim: "N"}})


def expected_of(network, x):
    """Output, a gradient for it, and the parameters' gradients, in float64."""
    network = copy.deepcopy(network).double()
    y = network(x.double() if x.is_floating_point() else x)
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(7)).double()
    y.backward(dy)
    gradients = {name: p.grad.numpy() for name, p in network.named_parameters()}
    return y.detach().numpy(), dy.float().numpy(), gradients


def difference(got, expected):
    if got.shape != expected.shape:
        return f"has shape {got.shape}, expected {expected.shape}"
    error = numpy.abs(got - expected).max() / max(numpy.abs(expected).max(), 1e-30)
    return "" if error <= TOLERANCE else f"differs by {error:.2e}, allowed is {TOLERANCE}"


def judge(name, captured, folder):
    """What is wrong, a line each."""
    _, draw, shape, other_shape, open_dim = NETWORKS[name]
    network = make(name)
    path = folder / f"{name}.onnx"
    export(network, draw(*shape), open_dim, captured, path)
    executor = d5.executor(d5.Network.load(path))
    found = []
    for sizes in (shape, other_shape):
        x = draw(*sizes)
        y, dy, gradients = expected_of(network, x)
        batch = executor.forward({"x": x.numpy()}, ["y"])
        found.append(("y", difference(batch.outputs["y"].numpy(), y)))
        batch.backward({"y": dy})
        computed = {p.name: p.gradient.numpy() for p in executor.network.parameters}
        for parameter, expected in gradients.items():
            found.append((f"gradient of {parameter}",
                          difference(computed[parameter], expected) if parameter in computed
                          else "is missing: the file has no such parameter"))
    print(f"{name}, {'captured' if captured else 'traced'}: {len(found)} tensors at {shape} and "
          f"{other_shape}")
    return [f"{name}: {tensor} {error}" for tensor, error in found if error]


def main(*names):
    torch.backends.mha.set_fastpath_enabled(False)  # one fused operator that has no export
    captures = importlib.util.find_spec("onnxscript") is not None
    if not captures:
        print("note: the exporter that captures is left out, for onnxscript is not installed")
    failures = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names or NETWORKS:
            for captured in (False, True)[:1 + captures]:
                failures += judge(name, captured, pathlib.Path(folder))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
