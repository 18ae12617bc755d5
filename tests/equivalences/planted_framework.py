# SPDX-License-Identifier: Apache-2.0
"""A framework of one operator, whose last element is off by $PLANTED."""

import os

import d5
import numpy as np

ERROR = np.float32(os.environ.get("PLANTED", "0"))


class Relu(d5.Kernel):
    def __init__(self, plan):
        pass

    def forward(self, inputs):
        y = np.maximum(inputs[0].numpy(), 0)
        y.reshape(-1)[-1] += ERROR
        return y


@d5.register
class Planted(d5.Framework):
    name = "planted"
    version = "1"
    kernels = {"Relu": Relu}
