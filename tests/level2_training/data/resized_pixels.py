#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes resized_pixels.txt: one small image, resized by Pillow, OpenCV and TensorFlow themselves.

usage: resized_pixels.py > resized_pixels.txt   (needs pillow, opencv-python-headless, tensorflow-cpu, numpy)
A line: LIBRARY KERNEL HEIGHT WIDTH and the pixels, two hexadecimal digits each.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import cv2  # noqa: E402
import numpy as np  # noqa: E402
import PIL  # noqa: E402
import tensorflow as tf  # noqa: E402
from PIL import Image  # noqa: E402

HEIGHT, WIDTH = 13, 17
y, x, c = np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), np.arange(3), indexing="ij")
image = ((3 * x * x + 7 * y * y + x * y + 40 * c) % 256).astype(np.uint8)
sizes = [(7, 5), (20, 31), (13, 8), (1, 1)]


def rounded(values):
    return np.clip(np.floor(np.asarray(values) + 0.5), 0, 255).astype(np.uint8)


def tensorflow_1(kernel, size):
    resize = {"nearest": tf.compat.v1.image.resize_nearest_neighbor, "bilinear": tf.compat.v1.image.resize_bilinear}
    return rounded(resize[kernel](image[None], size, half_pixel_centers=False)[0])


pillow = {"nearest": Image.NEAREST, "bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
opencv = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA}
print(f"# Pillow {PIL.__version__}, OpenCV {cv2.__version__}, TensorFlow {tf.__version__}; see resized_pixels.py")
for height, width in sizes:
    size = (height, width)
    results = {("pillow", k): np.asarray(Image.fromarray(image).resize((width, height), v)) for k, v in pillow.items()}
    for kernel, word in opencv.items():
        if kernel != "area" or (height <= HEIGHT and width <= WIDTH):
            results["opencv", kernel] = cv2.resize(image, (width, height), interpolation=word)
    for kernel in ("nearest", "bilinear", "bicubic"):
        results["tensorflow", kernel] = rounded(tf.image.resize(image, size, method=kernel))
    for kernel in ("bilinear", "bicubic"):
        results["tensorflow_antialias", kernel] = rounded(tf.image.resize(image, size, method=kernel, antialias=True))
    for kernel in ("nearest", "bilinear"):
        results["tensorflow_1", kernel] = tensorflow_1(kernel, size)
    for (library, kernel), pixels in results.items():
        print(library, kernel, height, width, pixels.tobytes().hex())
