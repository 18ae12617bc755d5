# SPDX-License-Identifier: Apache-2.0
"""A model whose answers can be found by hand, with its data set: red, green and blue pictures."""

import hashlib
import json
import struct
import zlib

import d5
import numpy

WHO = {"version": "1.0.0-dev", "task": "colours", "licence": "CC0-1.0"}


def png(pixels):
    """An image of uint8 {height, width, 3}."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def asset(file):
    data = file.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def write_toy(folder):
    """Writes colours.yaml, the data set, and toy.yaml, the model. $D5_DATA_DIR is `folder`."""
    (folder / "colours").mkdir()
    samples = []
    for i in range(6):
        pixels = numpy.zeros((16, 16, 3), numpy.uint8)
        pixels[..., i % 3] = 200
        file = folder / "colours" / f"p{i}.png"
        file.write_bytes(png(pixels))
        samples.append({"file": file.name, "label": i % 3, **asset(file)})
    network = d5.Network("toy")
    network.add_input("image", "float32", ["N", 3, 16, 16])
    network.add_node("GlobalAveragePool", ["image"], ["pooled"])
    network.add_node("Flatten", ["pooled"], ["means"])
    network.add_output("means")
    network.save(folder / "toy.onnx")

    def manifest(file, **fields):
        (folder / file).write_text(json.dumps({**fields, **WHO}))

    half = {"name": "half", "count": 3}
    manifest("colours.yaml", kind="dataset", name="colours", folder="colours", splits=[half], samples=samples)
    manifest(
        "toy.yaml",
        kind="model",
        name="toy",
        assets=[{"name": "toy.onnx", "urls": f"file://{folder}/toy.onnx", **asset(folder / "toy.onnx")}],
        inputs=[
            {
                "name": "image",
                "shape": [3, 16, 16],
                "steps": ["decode", {"name": "normalise", "values": "bytes", "mean": 127, "deviation": 128}],
            }
        ],
        outputs=[{"name": "means"}],
        answer=[{"name": "top_k", "k": 2}],
        accuracy=[{"dataset": "colours.yaml", "measure": "top1", "value": 1.0, "source": "by construction"}],
    )
