# SPDX-License-Identifier: Apache-2.0
# Listings 3 and 4 of the Deep500 paper: an operator in C++, forward and backward, compiled from
# Python, checked, and used in torch and in a network.
import pathlib

import d5
import numpy as np

source = pathlib.Path(__file__).with_suffix("") / "median_pooling.cpp"
(name,) = d5.op.compile(source, definitions={"DTYPE": "double"})  # the precision of gradient checks
(row,) = d5.test_gradient(f"{name} 2x3x6x7 size=3")
print(f"{name}: gradient {row.status}")
assert row.status == "passed", row.reason

d5.op.compile(source, definitions={"DTYPE": "float"})
network = d5.Network("pooled")
network.add_input("x", "float32", ["N", 1, 4, 4])
network.add_node("MedianPooling", ["x"], ["y"], domain="example")
network.add_output("y")
x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
y = d5.executor(network).inference({"x": x})["y"]
print("medians of 2x2:", y.numpy().ravel())  # the lower one of an even number
assert y.numpy().ravel().tolist() == [1, 3, 9, 11]

try:
    import torch

    import d5.torch as d5torch
except ImportError as reason:
    print("without torch:", reason)
else:
    d5.op.compile(source, definitions={"DTYPE": "double"})
    median_pooling = d5torch.custom_op(name, size=3)
    images = torch.randn(2, 3, 6, 7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(median_pooling, (images,))
    print("torch's gradcheck passes")
