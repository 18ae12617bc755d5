#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A step of DistributedDataParallel over gloo and over d5, and the exchange alone, on the ranks of one machine.

usage: PYTHONPATH=build/release/python mpirun -np 2 python3 benchmarks/ddp_peers.py [--rounds 15] [--images 16]
       (needs PyTorch with gloo)

ResNet-18 for images of 3x32x32, one thread per rank. All process groups live in one process, and take turns: in each
round every one runs a step, and an all-reduce of as many floats as the network has parameters, in another order each
round. A sample is the slowest rank's time, from a barrier on. Prints the median with the range in which 95% of such
medians lie (order statistics), and the same for the ratio to gloo within a round. `no exchange` is the lower bound.

d5 trains the same network, exported, with torch's kernels (executor torch:torch): by its own scheme, by torch's Reducer
over d5's ranks (torch/ddp), and alone. The time of a step beyond one without exchange is printed as exposed.
"""

import argparse
import contextlib
import pathlib
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import nn

import d5
import d5.torch_backend


class Block(nn.Module):
    def __init__(self, given: int, made: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(given, made, 3, stride, 1, bias=False), nn.BatchNorm2d(made), nn.ReLU(),
            nn.Conv2d(made, made, 3, 1, 1, bias=False), nn.BatchNorm2d(made))
        self.skip: nn.Module = nn.Identity()
        if stride != 1 or given != made:
            self.skip = nn.Sequential(nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.skip(x))


def resnet_18() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    given = 64
    for made, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(given, made, stride), Block(made, made, 1)]
        given = made
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def trainers_of_d5(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> dict[str, Callable[[], object]]:
    """Runs a step of each: d5 and torch share the kernels, but not the execution of the network."""
    d5.set_threads(1)
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "resnet.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracing exporter is deprecated
        torch.onnx.export(model, (images,), str(path), dynamo=False, do_constant_folding=False,
                          training=torch.onnx.TrainingMode.TRAINING, input_names=["x"], output_names=["y"])

    def trainer(scheme: str) -> Callable[[], object]:
        network = d5.Network.load(path)
        d5.append_loss(network, "cross_entropy", target="class", classes_last=True)
        executor = d5.executor(network, ["torch:torch"])
        executor.mode = "training"
        optimizer = d5.optimizer("sgd", executor, "loss", learning_rate=0.01)
        if scheme:
            optimizer = d5.distributed_optimizer(scheme, optimizer, all_reduce="node_memory")
        batch = {"x": images.numpy(), "class": labels.numpy()}
        return lambda: optimizer.step(batch)

    with folder:
        return {"d5's own": trainer("consistent_decentralized"), "torch/ddp": trainer("torch/ddp"),
                "d5 alone": trainer("")}


def median_with_range(values: list[float]) -> tuple[float, float, float]:
    """The ranks of order statistics between which the median lies with 95% (normal approximation)."""
    ordered, count = sorted(values), len(values)
    reach = 0.98 * count**0.5
    low, high = max(int(count / 2 - reach), 0), min(int(count / 2 + reach), count - 1)
    return statistics.median(ordered), ordered[low], ordered[high]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--images", type=int, default=16, help="a rank's share of a batch")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    everyone = list(range(ranks))
    groups = {"gloo": dist.group.WORLD}
    for name in ("mpi", "ring", "node_memory"):
        groups[f"d5 {name}"] = dist.new_group(everyone, backend="d5", pg_options={"all_reduce": name})

    torch.manual_seed(rank)
    images = torch.randn(options.images, 3, 32, 32)
    labels = torch.randint(10, (options.images,))
    models = {name: nn.parallel.DistributedDataParallel(resnet_18(), process_group=group)
              for name, group in groups.items()}
    models["no exchange"] = models["gloo"]
    optimizers = {name: torch.optim.SGD(model.parameters(), 0.01) for name, model in models.items()}
    flat = torch.zeros(sum(parameter.numel() for parameter in models["gloo"].parameters()))

    trainers = trainers_of_d5(resnet_18(), images, labels)

    def step(name: str) -> None:
        if name in trainers:
            trainers[name]()
            return
        model = models[name]
        with model.no_sync() if name == "no exchange" else contextlib.nullcontext():
            optimizers[name].zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizers[name].step()

    def exchange(name: str) -> None:
        dist.all_reduce(flat, group=groups[name])

    subjects = [("step", name) for name in [*models, *trainers]] + [("exchange", name) for name in groups]
    for what, name in subjects:  # buckets are rebuilt after the first step, d5's memory in the first exchange
        for _ in range(2):
            step(name) if what == "step" else exchange(name)
    times: dict[tuple[str, str], list[float]] = {subject: [] for subject in subjects}
    order = random.Random(7)  # the same on each rank
    for _ in range(options.rounds):
        for what, name in order.sample(subjects, len(subjects)):
            dist.barrier()
            begin = time.perf_counter()
            step(name) if what == "step" else exchange(name)
            slowest = torch.tensor(time.perf_counter() - begin, dtype=torch.float64)
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            times[what, name].append(float(slowest))
    if rank == 0:
        print(f"{ranks} ranks, {options.rounds} rounds, {options.images} images a rank, {flat.numel()} floats; "
              "ms, and times as fast as gloo")
        for (what, name), seconds in times.items():
            middle, low, high = median_with_range([1e3 * one for one in seconds])
            ratios = [gloo / own for gloo, own in zip(times[what, "gloo"], seconds)]
            ratio, least, most = median_with_range(ratios)
            print(f"{what:9} {name:14} {middle:8.1f} [{low:.1f}, {high:.1f}]  {ratio:5.2f} [{least:.2f}, {most:.2f}]")
        for name in [*models, *trainers]:
            alone = times["step", "d5 alone" if name in trainers else "no exchange"]
            exposed = [1 - without / own for own, without in zip(times["step", name], alone)]
            middle, low, high = median_with_range(exposed)
            print(f"exposed   {name:14} {middle:8.3f} [{low:.3f}, {high:.3f}]")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
