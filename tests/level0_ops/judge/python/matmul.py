# SPDX-License-Identifier: Apache-2.0
"""An honest product with its gradients, in Python."""

import math

import numpy as np


def MatMul(inputs, outputs):
    a, b = inputs
    np.matmul(a, b, out=outputs[0])


def MatMul_backward(values, gradients):
    a, b, _, dy = values
    gradients[0][...] = dy @ b.T
    gradients[1][...] = a.T @ dy


def Softmax(inputs, outputs, axis=-1):
    shifted = np.exp(inputs[0] - inputs[0].max(axis, keepdims=True))
    outputs[0][...] = shifted / shifted.sum(axis, keepdims=True)
    assert math.isfinite(outputs[0].flat[0])
