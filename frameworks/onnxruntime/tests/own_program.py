#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime:session beside ONNX Runtime's Python package, on real models.

usage: own_program.py [images|light [MODEL ...]]

tests/level1_network/own_programs.py, which must be on PYTHONPATH, has the comparison. Exit status 4: a package or
the models are missing.
"""

import sys

from own_programs import judge

try:
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

# Tests that d5 refuses although ONNX Runtime's own program computes them, with the reason.
REFUSED = {"openwakeword-hey-jarvis": "divisor.* is computed in the network"}


def run(file, inputs, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


judge("onnxruntime:session", run, REFUSED, sys.argv[1:])
