#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time to prepare a batch of photographs for training in d5, in Pillow, and in torch's DataLoader over Pillow:
JPEG files in the page cache, decoded, a random part of each resized to 224 x 224, flipped, normalised.

usage: dataset_latency_peers.py FOLDER [--batch 1,128] [--samples 30]   (needs the module d5, Pillow and NumPy; uses torch if installed)

FOLDER holds JPEG files, repeated up to 1,024. Subjects on one thread are measured in turns. Subjects that read ahead, with threads
or processes, are measured alone, because they also work in the others' turns. Prints medians and their 95% intervals.
"""

import argparse
import pathlib
import random
import sys
import tempfile

import d5
import numpy

import image_peers

FILES = 1024
STEPS = "decode,random_resized_crop,flip,normalise"


class Files:
    """A data set in the form of torch's DataLoader."""

    def __init__(self, paths: list[pathlib.Path]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int):
        return image_peers.ready(self.paths[index].read_bytes())


def with_d5(photographs: d5.Dataset, order: str, batch: int, threads: int = 0):
    sampler = d5.sampler(order, photographs, batch_size=batch, tail="drop")
    if threads:
        sampler.read_ahead(threads)
    epoch = 0

    def run() -> None:
        nonlocal epoch
        while sampler.next() is None:
            epoch += 1
            sampler.reset(epoch)

    return run


def with_pillow(files: Files, order: str, batch: int):
    places: list[int] = []

    def run() -> None:
        images = numpy.empty((batch, 3, 224, 224), numpy.float32)
        for row in images:
            if not places:
                places.extend(range(len(files)))
                if order == "shuffle":
                    random.shuffle(places)
            row[:] = files[places.pop()]

    return run


def with_torch(files: Files, order: str, batch: int, workers: int):
    from torch.utils.data import DataLoader

    loader = DataLoader(files, batch, shuffle=order == "shuffle", drop_last=True, num_workers=workers,
                        persistent_workers=workers > 0)
    batches = iter(loader)

    def run() -> None:
        nonlocal batches
        if next(batches, None) is None:
            batches = iter(loader)
            next(batches)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", default="1,128", help="sizes, separated by commas")
    parser.add_argument("--samples", type=int, default=30)
    arguments = parser.parse_args()
    d5.set_threads(1)
    if image_peers.torch:
        image_peers.torch.set_num_threads(1)
    paths = sorted(arguments.folder.absolute().glob("*.JPEG"))
    files = Files([paths[i % len(paths)] for i in range(FILES)])
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.writelines(f"{path} {i}\n" for i, path in enumerate(files.paths))
        names.flush()
        photographs = d5.dataset("files", data=names.name, steps=STEPS).train
    cells: dict[str, list[str]] = {}
    head = []
    for batch in map(int, arguments.batch.split(",")):
        for order, words in (("ordered", "in order"), ("shuffle", "shuffled")):
            head.append(f"{batch}, {words}")
            in_turns = {"d5": lambda: with_d5(photographs, order, batch),
                        "Pillow": lambda: with_pillow(files, order, batch)}
            alone = {"d5, 2 loader threads": lambda: with_d5(photographs, order, batch, 2)}
            if image_peers.torch:
                in_turns["DataLoader"] = lambda: with_torch(files, order, batch, 0)
                alone["DataLoader, 2 workers"] = lambda: with_torch(files, order, batch, 2)
            for group in (in_turns, *({name: make} for name, make in alone.items())):
                rows = d5.measure({name: make() for name, make in group.items()}, samples=arguments.samples)
                for row in rows:
                    if row.quantity != "time":
                        continue
                    low, high = row.interval
                    width = "" if low != low else f" [{1e3 * low:.3g}, {1e3 * high:.3g}]"  # too few samples
                    mark = " *" if row.reason else ""
                    cells.setdefault(row.framework, []).append(f"{1e3 * row.median:.3g}{width}{mark}")
                    if row.reason:
                        print(f"{row.framework}, {head[-1]}: {row.reason}", file=sys.stderr)
    print("| files, ready for training (ms) |", " | ".join(head), "|")
    print("| --- " * (len(head) + 1) + "|")
    for name, values in cells.items():
        print("|", name, "|", " | ".join(values), "|")


if __name__ == "__main__":
    main()
