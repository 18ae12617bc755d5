#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and samples to accuracy of recipes/mnist-lenet.yaml in d5 beside the same training written in plain PyTorch.

usage: lenet_peers.py [--seeds 10] [--framework torch,reference] [--threads N] [--program d5] [--data DIR]
       (needs the program d5, PyTorch and NumPy, and the whole of MNIST: DIR, or the folder mnist in D5_DATA_DIR)

Every contestant trains once from each seed, in a separate process and in rotating order. In common: LeNet-5 and
the distribution of its initial weights (normal by fan-out in convolutions, uniform in layers), the 60,000 images normalised by
the same two numbers, shuffled batches of 64, momentum 0.9, rate 0.01, a test of all 10,000 images after each epoch, the
end when 98.5% of them are right, 8 epochs at most. The random draws differ. The time runs from the first batch to the
end of the test that reaches the target, including tests and excluding the loading of files. PyTorch's images are
normalised in memory; d5 normalises a batch when it is read. A run that misses the target counts as infinite.
"""

import argparse
import gzip
import json
import math
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

TARGET, EPOCHS, BATCH, TEST_BATCH, RATE, MOMENTUM = 0.985, 8, 64, 250, 0.01, 0.9
MEAN, DEVIATION = 0.1307, 0.3081
Run = tuple[float, float]  # seconds and samples until the target is reached


def read_idx(folder: pathlib.Path, name: str) -> numpy.ndarray:
    packed = folder / f"{name}.gz"
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    dims = numpy.frombuffer(content, ">i4", content[3], 4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * content[3]).reshape(dims)


def with_torch(seed: int, folder: pathlib.Path, threads: int) -> Run:
    import torch
    from torch import nn

    def part(name: str):
        images = torch.from_numpy(read_idx(folder, f"{name}-images-idx3-ubyte").astype(numpy.float32))
        labels = torch.from_numpy(read_idx(folder, f"{name}-labels-idx1-ubyte").astype(numpy.int64))
        return (images.unsqueeze(1) / 255 - MEAN) / DEVIATION, labels

    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    (images, labels), (test_images, test_labels) = part("train"), part("t10k")
    model = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                          nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                          nn.Linear(84, 10))
    for layer in model:
        if isinstance(layer, nn.Conv2d):  # nn.Linear draws as d5 does
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)

    begin = time.monotonic()
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for indices in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss_of(model(images[indices]), labels[indices]).backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for x, y in zip(test_images.split(TEST_BATCH), test_labels.split(TEST_BATCH)):
                right += int((model(x).argmax(1) == y).sum())
        if right >= TARGET * len(test_images):
            return time.monotonic() - begin, float(epoch * len(images))
    return math.inf, math.inf


def with_d5(program: str, framework: str, seed: int, folder: pathlib.Path, threads: int) -> Run:
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "run.json"
        done = subprocess.run(
            [program, "train", "mnist-lenet", "--data", str(folder), "--framework", framework, "--seed", str(seed),
             "--threads", str(threads), "--metrics", "samples_to_accuracy", "--quiet", "--out", str(out)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):  # 1: the target was not reached
            sys.exit(done.stderr)
        records = {record["metric"]: record for record in json.loads(out.read_text())["measurements"]}

    def reached(metric: str) -> float:
        return records[metric]["samples"][0] if records[metric]["samples"] else math.inf

    return reached("time_to_accuracy"), reached("samples_to_accuracy")


def median_interval(samples: list[float]) -> tuple[float, float]:
    """The 95% interval of the median, for any distribution; fewer than 6 samples have none."""
    n = len(samples)
    outside, rank = 0.0, 0
    while outside + math.comb(n, rank) / 2 ** (n - 1) <= 0.05:
        outside += math.comb(n, rank) / 2 ** (n - 1)
        rank += 1
    ordered = sorted(samples)
    return (ordered[rank - 1], ordered[n - rank]) if rank else (math.nan, math.nan)


def with_interval(samples: list[float], digits: str) -> str:
    low, high = median_interval(samples)
    interval = "" if math.isnan(low) else f" [{low:{digits}}, {high:{digits}}]"
    return f"{statistics.median(samples):{digits}}{interval}"


def olympic_mean(samples: list[float], digits: str) -> str:
    return f"{statistics.fmean(sorted(samples)[1:-1]):{digits}}" if len(samples) > 2 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--framework", default="torch", help="words of d5's executors, separated by commas")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--program", default="d5")
    parser.add_argument("--data", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.data or pathlib.Path(os.environ.get("D5_DATA_DIR", ".")) / "mnist"
    fresh = multiprocessing.get_context("spawn")

    def torch_alone(seed: int) -> Run:
        with fresh.Pool(1) as process:
            return process.apply(with_torch, (seed, folder, arguments.threads))

    contestants = {"PyTorch": torch_alone}
    for word in arguments.framework.split(","):
        contestants[f"d5 {word}"] = lambda seed, word=word: with_d5(arguments.program, word, seed, folder,
                                                                    arguments.threads)
    runs: dict[str, list[Run]] = {name: [] for name in contestants}
    for seed in range(1, arguments.seeds + 1):
        names = list(contestants)
        for name in names[seed % len(names):] + names[:seed % len(names)]:
            runs[name].append(contestants[name](seed))
            seconds, samples = runs[name][-1]
            print(f"seed {seed}, {name}: {seconds:.2f} s, {samples:.0f} samples", file=sys.stderr)
    print("| | time to 98.5% (s): median | olympic mean | samples to 98.5%: median | olympic mean |")
    print("| --- " * 5 + "|")
    for name, its in runs.items():
        seconds, samples = zip(*its)
        print(f"| {name} | {with_interval(seconds, '.2f')} | {olympic_mean(seconds, '.2f')} "
              f"| {with_interval(samples, '.0f')} | {olympic_mean(samples, '.0f')} |")
    for name, its in runs.items():
        ratios = [mine[0] / its_own[0] for mine, its_own in zip(its, runs["PyTorch"])
                  if math.isfinite(mine[0]) and math.isfinite(its_own[0])]
        if name != "PyTorch" and ratios:
            print(f"\n{name} / PyTorch, time, seed by seed: {with_interval(ratios, '.3f')}")


if __name__ == "__main__":
    main()
