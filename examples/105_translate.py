# SPDX-License-Identifier: Apache-2.0
# Translates networks to another framework, here plain NumPy, with one method per operator. Missing
# operators are reported at once, by name. Results are compared with d5's own.
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import d5

Array = NDArray[Any]


class ToNumpy(d5.OperatorVisitor):
    """Creates a list of calls that read and write `values` by name."""

    framework = "numpy"

    def __init__(self, network: d5.Network) -> None:
        self.calls: list[Callable[[dict[str, Array]], None]] = []
        self.constants: dict[str, Array] = {p.name: p.value.numpy() for p in network.parameters}
        self.walk(network)

    def call(self, node: d5.Node, function: Callable[..., Array]) -> None:
        def run(values: dict[str, Array]) -> None:
            values[node.outputs[0]] = function(*(values[name] for name in node.inputs))

        self.calls.append(run)

    def visit_Conv(self, node: d5.Node) -> None:
        def conv(x: Array, w: Array, b: Array) -> Array:
            windows = np.lib.stride_tricks.sliding_window_view(padded(x), w.shape[2:], axis=(2, 3))
            windows = windows[:, :, :: strides[0], :: strides[1]]
            products: Array = np.einsum("nchwij,ocij->nohw", windows, w)
            return products + b[:, None, None]

        strides = node.attributes.get("strides", [1, 1])
        top, left, bottom, right = node.attributes.get("pads", [0, 0, 0, 0])
        assert node.attributes.get("group", 1) == 1

        def padded(x: Array) -> Array:
            return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))

        self.call(node, conv)

    def visit_MaxPool(self, node: d5.Node) -> None:
        size, step = node.attributes["kernel_shape"], node.attributes.get("strides", [1, 1])

        def pool(x: Array) -> Array:
            windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=(2, 3))
            largest: Array = windows[:, :, :: step[0], :: step[1]].max(axis=(4, 5))
            return largest

        self.call(node, pool)

    def visit_Relu(self, node: d5.Node) -> None:
        self.call(node, lambda x: np.maximum(x, 0))

    def visit_Flatten(self, node: d5.Node) -> None:
        self.call(node, lambda x: x.reshape(len(x), -1))

    def visit_Gemm(self, node: d5.Node) -> None:
        transposed = node.attributes.get("transB", 0)
        self.call(node, lambda x, w, b: x @ (w.T if transposed else w) + b)

    def __call__(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        values = {**self.constants, **inputs}
        for call in self.calls:
            call(values)
        return values


network = d5.model("lenet", seed=1)
translated = ToNumpy(network)
image = np.random.default_rng(0).standard_normal((4, 1, 28, 28)).astype(np.float32)
(output,) = network.output_names
expected = d5.executor(network).inference({"image": image})[output].numpy()
answer = translated({"image": image})[output]
np.testing.assert_allclose(answer, expected, rtol=1e-4, atol=1e-5)  # sums in another order
print(f"{len(translated.calls)} nodes translated; largest difference {abs(answer - expected).max():.1e}")

try:
    ToNumpy(d5.model("resnet-18"))
except d5.Unsupported as error:
    print(str(error)[:120], "...")
else:
    raise AssertionError("nothing was refused")
