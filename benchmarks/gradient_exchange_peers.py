#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exchange of bench_gradient_exchange beside torch's gloo, on the ranks of one machine.

usage: gradient_exchange_peers.py --program build/release/benchmarks/bench_gradient_exchange [--ranks 2] [--rounds 7]
       (needs PyTorch with gloo, and mpirun)

The same 160 tensors of 25 million floats. In each round gloo's processes take 3 samples, then the program's 3, and the
median of each counts: one after the other, so that neither computes while the other is timed. `gloo` starts an
all-reduce for each tensor, then waits for all; `gloo in buckets` has them in buckets of 25 MiB, as
DistributedDataParallel does. Prints the median of the rounds, and the ratio to gloo's faster way with the range in
which 95% of such medians lie (order statistics).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed
import torch.multiprocessing

SAMPLES = 3


def sizes() -> list[int]:
    return [size for i in range(80) for size in (256 * (1 + i % 8), 7690 * (i + 1))]


def gloo(rank: int, ranks: int, place: str, orders, answers) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=ranks)
    one = [torch.zeros(size) for size in sizes()]
    whole = torch.zeros(sum(sizes()))
    buckets = list(whole.split((25 << 20) // 4))
    while orders.get() == "sample":
        for name, tensors in (("gloo", one), ("gloo in buckets", buckets)):
            for _ in range(SAMPLES):
                torch.distributed.barrier()
                begin = time.perf_counter()
                for work in [torch.distributed.all_reduce(tensor, async_op=True) for tensor in tensors]:
                    work.wait()
                seconds = torch.tensor(time.perf_counter() - begin, dtype=torch.float64)
                torch.distributed.all_reduce(seconds, torch.distributed.ReduceOp.MAX)
                if rank == 0:
                    answers.put((name, float(seconds)))
        if rank == 0:
            answers.put(None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    context = torch.multiprocessing.get_context("spawn")
    answers = context.Queue()
    orders = [context.Queue() for _ in range(options.ranks)]
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "meeting")
        peers = [context.Process(target=gloo, args=(rank, options.ranks, place, orders[rank], answers))
                 for rank in range(options.ranks)]
        for peer in peers:
            peer.start()
        for _ in range(options.rounds):
            samples: dict[str, list[float]] = {}
            for order in orders:
                order.put("sample")
            while (answer := answers.get()) is not None:
                samples.setdefault(answer[0], []).append(answer[1])
            command = ["mpirun", "--oversubscribe", "-np", str(options.ranks), options.program, "--plain", "--samples",
                       str(SAMPLES)]
            for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
                name, *seconds = line.split()
                samples[name] = [float(word) for word in seconds]
            for name, seconds in samples.items():
                times.setdefault(name, []).append(statistics.median(seconds))
        for order in orders:
            order.put("end")
        for peer in peers:
            peer.join()
    best = min(("gloo", "gloo in buckets"), key=lambda name: statistics.median(times[name]))
    print(f"{options.ranks} ranks, {options.rounds} rounds; times as fast as {best}")
    for name, seconds in times.items():
        ratios = sorted(base / own for base, own in zip(times[best], seconds))
        ends = f"[{ratios[0]:.2f}, {ratios[-1]:.2f}]" if len(ratios) >= 6 else ""  # six: the fewest for 95%
        print(f"{name:16} {statistics.median(seconds) * 1e3:8.1f} ms {statistics.median(ratios):6.2f} {ends}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
