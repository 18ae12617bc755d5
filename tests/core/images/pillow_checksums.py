#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes imagenet_sample.txt, by which image_test and sample_step_test judge: for each file of a folder
its name, and the SHA-256 of Pillow's RGB pixels, of these resized to 224 x 224 (BILINEAR), and of the
part from column w//5, row h//7, of w//2 x h//3 pixels, resized to 96 rows of 160. Columns are resized
first, then rows: Pillow by itself begins with either, and rounds between the two.

usage: pillow_checksums.py FOLDER > imagenet_sample.txt   (Pillow 13.0.0, libjpeg-turbo 3.2.0)
"""

import hashlib
import pathlib
import sys

from PIL import Image


def checksum(image: Image.Image) -> str:
    return hashlib.sha256(image.tobytes()).hexdigest()


def resized(image: Image.Image, width: int, height: int) -> Image.Image:
    columns = image.resize((width, image.height), Image.Resampling.BILINEAR)
    return columns.resize((width, height), Image.Resampling.BILINEAR)


for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    if file.suffix != ".JPEG":
        continue
    image = Image.open(file).convert("RGB")
    width, height = image.size
    left, top = width // 5, height // 7
    part = image.crop((left, top, left + width // 2, top + height // 3))
    print(file.name, checksum(image), checksum(resized(image, 224, 224)), checksum(resized(part, 160, 96)))
