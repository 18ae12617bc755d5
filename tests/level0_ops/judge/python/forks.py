# SPDX-License-Identifier: Apache-2.0
"""Computes in a process of its own."""

import os


def MatMul(inputs, outputs):
    if os.fork() == 0:
        outputs[0][...] = inputs[0] @ inputs[1]
        os._exit(0)
