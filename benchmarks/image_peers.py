#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Preparation of photographs for training in d5, compared with Pillow and with torch's DataLoader over Pillow:
decode, a random part resized to 224 x 224, flip, normalise; on one thread, in turns.

usage: image_peers.py BENCH_IMAGES FOLDER [ROUNDS]   (needs Pillow and NumPy; uses torch if installed)
BENCH_IMAGES is d5's program bench_images, FOLDER holds at least 128 JPEG files. Prints the
speedup of d5: the median of the rounds and its 95% interval.
"""

import io
import json
import math
import pathlib
import random
import subprocess
import sys
import time

import numpy
from PIL import Image

IMAGES = 128
MEAN = numpy.array([0.485, 0.456, 0.406], numpy.float32)
DEVIATION = numpy.array([0.229, 0.224, 0.225], numpy.float32)


def part(width: int, height: int) -> tuple[int, int, int, int]:
    """Draws a part as torchvision's RandomResizedCrop does."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


def ready(content: bytes) -> numpy.ndarray:
    image = Image.open(io.BytesIO(content)).convert("RGB")
    image = image.crop(part(*image.size)).resize((224, 224), Image.Resampling.BILINEAR)
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pixels = numpy.asarray(image, numpy.float32) / 255
    return numpy.ascontiguousarray(((pixels - MEAN) / DEVIATION).transpose(2, 0, 1))


def with_pillow(contents: list[bytes]) -> None:
    batch = numpy.empty((len(contents), 3, 224, 224), numpy.float32)
    for place, content in enumerate(contents):
        batch[place] = ready(content)


def with_torch(contents: list[bytes]) -> None:
    for _ in torch.utils.data.DataLoader(Photographs(contents), batch_size=IMAGES):
        pass


class Photographs:
    def __init__(self, contents: list[bytes]) -> None:
        self.contents = contents

    def __len__(self) -> int:
        return len(self.contents)

    def __getitem__(self, index: int):
        return torch.from_numpy(ready(self.contents[index]))


def seconds_of_d5(program: str, steps: str) -> float:
    words = [program, f"--benchmark_filter=^training/{steps}$", "--benchmark_format=json",
             "--benchmark_min_time=0.5"]
    run = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return run["benchmarks"][0]["real_time"] * 1e-9


def seconds_of(work, contents: list[bytes]) -> float:
    begin = time.perf_counter()
    work(contents)
    return time.perf_counter() - begin


def interval(values: list[float]) -> tuple[float, float]:
    """The interval of the median, from the binomial distribution of the number of values below it."""
    ordered, count, tail, k = sorted(values), len(values), 0.0, 0
    while (tail := tail + math.comb(count, k) / 2**count) <= 0.025:
        k += 1
    k = max(k - 1, 0)
    return ordered[k], ordered[-1 - k]


def main() -> None:
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    contents = [file.read_bytes() for file in sorted(folder.glob("*.JPEG"))[:IMAGES]]
    peers = {"Pillow": with_pillow}
    if torch:
        torch.set_num_threads(1)
        peers["torch's DataLoader"] = with_torch
    for work in peers.values():
        work(contents)
    ratios: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        theirs = {name: seconds_of(work, contents) for name, work in peers.items()}
        for steps in ("region", "scaled"):
            ours = seconds_of_d5(program, steps)
            for name, seconds in theirs.items():
                ratios.setdefault((steps, name), []).append(seconds / ours)
    for (steps, name), values in ratios.items():
        low, high = interval(values)
        print(f"{steps}: {sorted(values)[len(values) // 2]:.2f} times as fast as {name} [{low:.2f}, {high:.2f}]")


try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None

if __name__ == "__main__":
    main()
