#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains networks that PyTorch exported, and holds them to what PyTorch makes of the same steps.

usage: export_training.py [NETWORK ...]

Each network of level 1's exports.py is exported in training mode, by the exporter that traces and,
where onnxscript is installed, by the one that captures. d5 loads the file, appends a cross-entropy,
and makes 20 steps of SGD and of Adam on the same batches as PyTorch, in the reference, in torch's
kernels, and in a mixture of frameworks.

Compared are parameters and running statistics after the last step, relative to a tensor's largest
magnitude. Allowed is 1e-9 in float64, and 1e-6 in float32: some ten units in the last place of
values that 20 steps have rounded in another order; or four times of what PyTorch's float32 run is
away from its own float64 run, where that is more: nobody is nearer to a run than it is to the truth.

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

STEPS = 20
RATE = 0.01
NETWORKS = {  # dimension of the classes, their number
    "mlp": (-1, 4), "residual-cnn": (-1, 5), "lstm": (-1, 3), "transformer-encoder": (-1, 20)}
# PyTorch's class, and d5's word for its epsilon.
OPTIMIZERS = {"sgd": (torch.optim.SGD, None), "adam": (torch.optim.Adam, "epsilon")}
# Adam divides a gradient by its own size. One that is 0 but for rounding, such as that of a weight
# before batch normalization, moves it as far as any other, unless epsilon is above the rounding.
EPSILON = {torch.float32: 1e-3, torch.float64: 1e-7}
EXECUTIONS = {"reference": ["reference"], "torch": ["torch", "reference"],
              "mixed": ["onednn", "torch", "reference"]}


class PopulationVariance:
    """A running variance as ONNX says: of the batch's population, where PyTorch takes the sample's."""

    def __init__(self, module):
        self.running = module.running_var.clone()
        module.register_forward_pre_hook(self.before)

    def before(self, module, inputs):
        x = inputs[0].detach()
        batch = x.var([axis for axis in range(x.dim()) if axis != 1], unbiased=False)
        self.running = (1 - module.momentum) * self.running + module.momentum * batch


def network_of(name, kind):
    """With numbers that an ONNX attribute, a float32, can hold."""
    network = exports.make(name).to(kind)
    for module in network.modules():
        if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.LayerNorm)):
            module.eps = float(numpy.float32(module.eps))
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1 - float(numpy.float32(1 - module.momentum))
    return network


def batches(name):
    """The same for every run: inputs and classes."""
    _, draw, shape, _, _ = exports.NETWORKS[name]
    torch.manual_seed(11)
    network = exports.make(name)
    result = []
    for _ in range(STEPS):
        x = draw(*shape)
        places = network(x).shape[:-1]
        result.append((x, torch.randint(0, NETWORKS[name][1], places)))
    return result


def trained_by_torch(network, optimizer, epsilon, data):
    network = copy.deepcopy(network).train()
    variances = {f"{name}.running_var": PopulationVariance(module)
                 for name, module in network.named_modules()
                 if isinstance(module, torch.nn.BatchNorm2d)}
    kind = next(network.parameters()).dtype
    make, has_epsilon = OPTIMIZERS[optimizer]
    options = {"eps": epsilon} if has_epsilon else {}
    rule = make(network.parameters(), lr=RATE, **options)
    for x, classes in data:
        scores = network(x.to(kind) if x.is_floating_point() else x)
        rule.zero_grad()
        torch.nn.functional.cross_entropy(scores.flatten(0, -2), classes.flatten()).backward()
        rule.step()
    state = {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}
    state |= {name: variance.running.numpy() for name, variance in variances.items()}
    return {name: value for name, value in state.items() if "num_batches" not in name}


def trained_by_d5(path, optimizer, frameworks, kind, data):
    network = d5.Network.load(path)
    d5.append_loss(network, "cross_entropy", target="class", classes_last=True)
    executor = d5.executor(network, frameworks)
    executor.mode = "training"
    word = OPTIMIZERS[optimizer][1]
    options = {word: EPSILON[kind]} if word else {}
    rule = d5.optimizer(optimizer, executor, "loss", learning_rate=RATE, **options)
    for x, classes in data:
        x = x.to(kind) if x.is_floating_point() else x
        rule.step({"x": x.numpy(), "class": classes.numpy()})
    return lambda name: executor.network.fetch(name).numpy()


def distances(got, expected):
    """The largest difference in each tensor, relative to its largest magnitude."""
    return {name: numpy.abs(got(name) - value).max() / numpy.abs(value).max()
            for name, value in expected.items()}


def judge(name, captured, kind, folder):
    network = network_of(name, kind)
    _, draw, shape, _, open_dim = exports.NETWORKS[name]
    path = folder / f"{name}.onnx"
    example = draw(*shape)
    exports.export(network, example.to(kind) if example.is_floating_point() else example, open_dim,
                   captured, path)
    data = batches(name)
    failures = []
    for optimizer in OPTIMIZERS:
        expected = trained_by_torch(network, optimizer, EPSILON[kind], data)
        start = network.state_dict()
        moved = {n: numpy.abs(v - start[n].numpy()).max() for n, v in expected.items()}
        assert min(moved.values()) >= 0 and max(moved.values()) > 1e-3, "nothing was trained"
        allowed = 1e-9 if kind == torch.float64 else 1e-6
        if kind == torch.float32:
            exact = trained_by_torch(copy.deepcopy(network).double(), optimizer, EPSILON[kind], data)
            own = max(distances(expected.__getitem__, exact).values())
            allowed = max(allowed, 4 * own)
        for word, frameworks in EXECUTIONS.items():
            got = distances(trained_by_d5(path, optimizer, frameworks, kind, data), expected)
            worst = max(got, key=got.get)
            print(f"{name}, {'captured' if captured else 'traced'}, {str(kind)[6:]}, {optimizer}, "
                  f"{word}: {len(got)} tensors, worst {got[worst]:.1e} ({worst}), "
                  f"allowed {allowed:.1e}", flush=True)
            failures += [f"{name}, {optimizer}, {word}: {tensor} differs by {error:.2e}, allowed is "
                         f"{allowed:.1e}" for tensor, error in got.items() if not error <= allowed]
    return failures


def main(*names):
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(1)
    d5.set_threads(1)  # several would wait for each other while another test has a core
    captures = importlib.util.find_spec("onnxscript") is not None
    failures = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names or NETWORKS:
            for captured in (False, True)[:1 + captures]:
                for kind in (torch.float32, torch.float64):
                    failures += judge(name, captured, kind, pathlib.Path(folder))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
