# SPDX-License-Identifier: Apache-2.0
"""A program of this folder and processes of torch with gloo, timed in turns: neither computes while the other is timed."""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable

import torch
import torch.distributed
import torch.multiprocessing

SAMPLES = 3
Ways = dict[str, Callable[[], None]]


def sizes() -> list[int]:
    """The sizes of the programs' 160 gradient tensors."""
    return [size for i in range(80) for size in (256 * (1 + i % 8), 7690 * (i + 1))]


def options_of(doc: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def _peer(ways_of: Callable[[int], Ways], rank: int, ranks: int, place: str, orders, answers) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=ranks)
    ways = ways_of(ranks)
    while orders.get() == "sample":
        for name, run in ways.items():
            for _ in range(SAMPLES):
                torch.distributed.barrier()
                begin = time.perf_counter()
                run()
                seconds = torch.tensor(time.perf_counter() - begin, dtype=torch.float64)
                torch.distributed.all_reduce(seconds, torch.distributed.ReduceOp.MAX)
                if rank == 0:
                    answers.put((name, float(seconds)))
        if rank == 0:
            answers.put(None)


def times_in_turns(options: argparse.Namespace, ways_of: Callable[[int], Ways]) -> dict[str, list[float]]:
    """The median of each round by name, in s: torch's processes take some samples, then the program does."""
    context = torch.multiprocessing.get_context("spawn")
    answers = context.Queue()
    orders = [context.Queue() for _ in range(options.ranks)]
    times: dict[str, list[float]] = {}
    command = ["mpirun", "--oversubscribe", "-np", str(options.ranks), options.program, "--plain", "--samples", str(SAMPLES)]
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "meeting")
        peers = [
            context.Process(target=_peer, args=(ways_of, rank, options.ranks, place, orders[rank], answers))
            for rank in range(options.ranks)
        ]
        for peer in peers:
            peer.start()
        for _ in range(options.rounds):
            samples: dict[str, list[float]] = {}
            for order in orders:
                order.put("sample")
            while (answer := answers.get()) is not None:
                samples.setdefault(answer[0], []).append(answer[1])
            for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
                name, *seconds = line.split()
                samples[name] = [float(word) for word in seconds]
            for name, each in samples.items():
                times.setdefault(name, []).append(statistics.median(each))
        for order in orders:
            order.put("end")
        for peer in peers:
            peer.join()
    return times


def ratio(base: list[float], own: list[float]) -> str:
    """The speedup of `own` in the same round, with the range in which 95% of such medians lie (order statistics)."""
    ratios = sorted(there / here for there, here in zip(base, own))
    ends = f"[{ratios[0]:.2f}, {ratios[-1]:.2f}]" if len(ratios) >= 6 else ""  # six: the fewest for 95%
    return f"{statistics.median(ratios):.2f} {ends}".rstrip()
