# SPDX-License-Identifier: Apache-2.0
# Listing 7 of the Deep500 paper: AcceleGrad (Levy, Yurtsever and Cevher, 2018) as an optimizer in
# three steps, compared with d5's own.
from typing import Any

import d5
import numpy as np


@d5.register("accelegrad-py")
class AcceleGrad(d5.ThreeStepOptimizer):
    """AcceleGrad in Python, with norms and rates of each parameter."""

    def __init__(self, diameter: float = 0.1, gradient_bound: float = 1.0) -> None:
        self.diameter, self.gradient_bound = diameter, gradient_bound
        self.state["t"] = 0

    def new_input(self) -> None:
        t = self.state["t"]
        self.alpha = 1.0 if t <= 2 else (t + 1) / 4
        self.state["t"] = t + 1

    def prepare_param(self, parameter: d5.Parameter) -> Any:
        if parameter.name not in self.state:
            start = parameter.value.numpy().copy()
            self.state[parameter.name] = {"y": start, "z": start, "squares": 0.0}
        kept = self.state[parameter.name]
        return kept["y"] + (kept["z"] - kept["y"]) / self.alpha

    def update_rule(self, gradient: d5.Tensor, parameter: d5.Parameter) -> Any:
        kept = self.state[parameter.name]
        kept["squares"] += (self.alpha * float(np.linalg.norm(gradient))) ** 2
        eta = 2 * self.diameter / (self.gradient_bound**2 + kept["squares"]) ** 0.5
        kept["z"] = kept["z"] - self.alpha * eta * gradient
        kept["y"] = parameter.value - eta * gradient
        return kept["y"]


def losses(name: str, **options: Any) -> list[float]:
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    optimizer = d5.optimizer(name, executor, diameter=0.05, **options)
    batches = d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=64, seed=1)
    return [optimizer.step(batch)["loss"].item() for batch, _ in zip(batches, range(20))]


ours, theirs = losses("accelegrad-py"), losses("accelegrad", per_parameter=True)
print(f"loss of step 20: {ours[-1]:.5f} in Python, {theirs[-1]:.5f} in C++")
assert np.allclose(ours, theirs, rtol=2e-4), (ours, theirs)
