# SPDX-License-Identifier: Apache-2.0
# Custom operators in Python: a class, a source in C++, a function of torch. Networks of every
# framework run them, and they are checked like ONNX's operators.
import pathlib

import d5
import numpy as np


@d5.operator("Cube", domain="example")
class Cube(d5.Operator):
    def forward(self, context: d5.OpContext) -> None:
        context.output(0).numpy()[...] = context.input(0).numpy() ** 3

    def backward(self, context: d5.GradContext) -> None:
        slope = 3 * context.input(0).numpy() ** 2
        context.grad_input(0).numpy()[...] = context.grad_output(0).numpy() * slope


names = ["example.Cube"]
names += d5.op.compile(pathlib.Path(__file__).with_suffix("") / "log_cosh.cpp")
try:
    import torch

    names.append(d5.op.from_native("aten::silu"))
    names.append(d5.op.from_native(torch.nn.functional.hardswish, "HardSwish", domain="example"))
except (ImportError, d5.NotFound) as reason:
    print("without torch:", reason)

for name in names:
    (row,) = d5.test_gradient(f"{name} 3x4")
    print(f"{name}: gradient {row.status}, error {row.samples[0]:.1e}")
    assert row.status == "passed", row.reason

    network = d5.Network(name)
    network.add_input("x", "float32", [2])
    network.add_parameter("w", np.array([1.0, -2.0], dtype=np.float32))
    network.add_node("Mul", ["x", "w"], ["xw"])
    domain, op_type = name.rsplit(".", 1)
    network.add_node(op_type, ["xw"], ["y"], domain=domain)
    network.add_node("ReduceSum", ["y"], ["loss"], keepdims=0)
    network.add_output("loss")
    executor = d5.executor(network)
    loss = executor.inference_and_backprop({"x": np.array([0.5, 1.5], dtype=np.float32)})["loss"]
    print(f"  in a network: loss {loss.item():.4f}, gradient "
          f"{executor.network.parameters[0].gradient.numpy()}")
