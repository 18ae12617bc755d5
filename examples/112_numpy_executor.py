# SPDX-License-Identifier: Apache-2.0
# Listing 6 of the Deep500 paper: a visitor with a method per operator. Twelve operators in NumPy
# become an executor, which runs LeNet.
from typing import Any

import d5
import numpy as np
from d5 import nodes
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Values = NDArray[Any]


class NumpyExecutor(d5.OperatorVisitor):
    """Computes a network node by node: fetches each node's inputs, and feeds its outputs."""

    framework = "NumPy"

    def inference(self, network: d5.Network, inputs: dict[str, Values]) -> dict[str, Values]:
        for name, value in inputs.items():
            network.feed(name, value)
        self.walk(network)
        return {name: network.fetch(name).numpy() for name in network.output_names}

    def fetch(self, name: str) -> Values:
        array: Values = self.network.fetch(name).numpy()
        return array

    def windows(self, x: Values, kernel: list[int], node: Any, empty: float) -> Values:
        """NxCxHxW as NxCxOHxOWxKHxKW."""
        pads, strides = node.pads or [0] * 4, node.strides or [1, 1]
        edges = ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3]))
        padded = np.pad(x, edges, constant_values=empty)
        return sliding_window_view(padded, kernel, axis=(2, 3))[:, :, :: strides[0], :: strides[1]]

    def visit_Conv(self, node: nodes.Conv) -> None:
        assert node.group == 1 and set(node.dilations or [1]) == {1} and node.auto_pad == "NOTSET"
        weights = self.fetch(node.W)
        windows = self.windows(self.fetch(node.X), list(weights.shape[2:]), node, 0)
        y = np.einsum("ncijkl,ockl->noij", windows, weights, optimize=True)
        self.network.feed(node.Y, y + self.fetch(node.B).reshape(-1, 1, 1) if node.B else y)

    def visit_MaxPool(self, node: nodes.MaxPool) -> None:
        windows = self.windows(self.fetch(node.X), node.kernel_shape, node, -np.inf)
        self.network.feed(node.Y, windows.max((-2, -1)))

    def visit_AveragePool(self, node: nodes.AveragePool) -> None:
        assert not any(node.pads or [0])
        windows = self.windows(self.fetch(node.X), node.kernel_shape, node, 0)
        self.network.feed(node.Y, windows.mean((-2, -1)))

    def visit_Gemm(self, node: nodes.Gemm) -> None:
        a, b = self.fetch(node.A), self.fetch(node.B)
        y = node.alpha * (a.T if node.transA else a) @ (b.T if node.transB else b)
        self.network.feed(node.Y, y + node.beta * self.fetch(node.C) if node.C else y)

    def visit_MatMul(self, node: nodes.MatMul) -> None:
        self.network.feed(node.Y, self.fetch(node.A) @ self.fetch(node.B))

    def visit_Add(self, node: nodes.Add) -> None:
        self.network.feed(node.C, self.fetch(node.A) + self.fetch(node.B))

    def visit_Relu(self, node: nodes.Relu) -> None:
        self.network.feed(node.Y, np.maximum(self.fetch(node.X), 0))

    def visit_Sigmoid(self, node: nodes.Sigmoid) -> None:
        self.network.feed(node.Y, 1 / (1 + np.exp(-self.fetch(node.X))))

    def visit_Softmax(self, node: nodes.Softmax) -> None:
        x = self.fetch(node.input)
        powers = np.exp(x - x.max(node.axis, keepdims=True))
        self.network.feed(node.output, powers / powers.sum(node.axis, keepdims=True))

    def visit_Flatten(self, node: nodes.Flatten) -> None:
        x = self.fetch(node.input)
        self.network.feed(node.output, x.reshape(int(np.prod(x.shape[: node.axis])), -1))

    def visit_Reshape(self, node: nodes.Reshape) -> None:
        x, shape = self.fetch(node.data), self.fetch(str(node.shape))
        dims = [x.shape[i] if dim == 0 else int(dim) for i, dim in enumerate(shape)]
        self.network.feed(node.reshaped, x.reshape(dims))

    def visit_Dropout(self, node: nodes.Dropout) -> None:
        self.network.feed(node.output, self.fetch(node.data))  # inference: all of it


lenet = d5.model("lenet", seed=3)
images = np.random.default_rng(0).normal(size=(4, 1, 28, 28)).astype(np.float32)
answers = NumpyExecutor().inference(lenet, {"image": images})
expected = d5.executor(lenet).inference({"image": images})
for name, answer in answers.items():
    error = np.abs(answer - expected[name].numpy()).max()
    print(f"{name}: {answer.shape}, differs by {error:.1e} from the reference")
    assert error < 1e-5
