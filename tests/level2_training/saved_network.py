#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network that PyTorch exported by a recipe, and asks ONNX Runtime what was saved.

usage: saved_network.py

The network has batch normalization and dropout, and is exported for inference. What d5 saves after
training has to classify the test samples in ONNX Runtime as many times right as d5 measured, and
better than what was exported did.

Exit status 4: a judge, or d5's Python module, is not installed.
"""

import pathlib
import sys
import tempfile
import warnings

try:
    import d5
    import onnxruntime
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

nn = torch.nn
RECIPE = """
name: exported
fixed:
  dataset: {{name: mnist, subset: sample, train_samples: 400, test_samples: 100}}
  model: {{file: {model}, loss: cross_entropy, inputs: {{x: image}}}}
mutable:
  sampler: {{batch_size: 20}}
  optimizer: {{name: adam, learning_rate: 0.005}}
  training: {{epochs: 3, seed: 1}}
"""


def export(path):
    torch.manual_seed(5)
    network = nn.Sequential(nn.Conv2d(1, 6, 5, stride=2), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(),
                            nn.Dropout(0.2), nn.Linear(6 * 12 * 12, 10))
    torch.onnx.export(network.eval(), (torch.zeros(1, 1, 28, 28),), path, dynamo=False,
                      do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE,
                      input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}})


def right_share(path):
    """In ONNX Runtime, which knows nothing of d5."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == ["x"], "other inputs than were exported"
    assert [one.name for one in session.get_outputs()] == ["y"], "other outputs than were exported"
    test = d5.dataset("mnist", subset="sample", train_samples=400, test_samples=100).test
    right = 0
    for batch in d5.sampler("ordered", test, batch_size=100):
        scores = session.run(["y"], {"x": batch.values["image"].numpy()})[0]
        right += int((scores.argmax(1) == batch.values["label"].numpy()).sum())
    return right / 100


def main():
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = pathlib.Path(name)
        export(folder / "net.onnx")
        (folder / "exported.yaml").write_text(RECIPE.format(model=folder / "net.onnx"))
        results, _ = d5.train(folder / "exported.yaml", save=folder / "trained.onnx")
        measured = [row for row in results if row.metric == "test_accuracy"][0].samples[-1]
        before, after = right_share(folder / "net.onnx"), right_share(folder / "trained.onnx")
    print(f"exported {before}, trained {measured} in d5, {after} in ONNX Runtime")
    # A sample whose two best scores are as good as equal may fall on either side.
    return 0 if abs(after - measured) <= 0.01 and after > before + 0.4 else 1


if __name__ == "__main__":
    sys.exit(main())
