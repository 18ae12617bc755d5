#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of bench_gradient_exchange_update beside torch's, on the ranks of one machine.

usage: gradient_exchange_update_peers.py --program build/release/benchmarks/bench_gradient_exchange_update
       [--ranks 2] [--rounds 7]
       (needs PyTorch with gloo, and mpirun)

The same 160 tensors of 25 million floats. `torch-sweeps` is `clip_grad_norm_` and `Adam(fused=True)` on one thread,
`torch-step` gloo before it: gradients are views of buckets of 25 MiB, which are divided by the ranks and summed, as
DistributedDataParallel does. In each round torch's processes take 3 samples, then the program's 3, and the median of
each counts: neither computes while the other is timed. Prints the median of the rounds, and how much faster d5 is in
the same round, with the range in which 95% of such medians lie (order statistics).
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


def torchs(rank: int, ranks: int, place: str, orders, answers) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=ranks)
    sizes = [size for i in range(80) for size in (256 * (1 + i % 8), 7690 * (i + 1))]
    whole = torch.zeros(sum(sizes))
    buckets = list(whole.split((25 << 20) // 4))
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
    for parameter, gradient in zip(parameters, whole.split(sizes)):
        parameter.grad = gradient
    adam = torch.optim.Adam(parameters, fused=True)

    def sweeps() -> None:
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()

    def step() -> None:
        for bucket in buckets:
            bucket.div_(ranks)
        for work in [torch.distributed.all_reduce(bucket, async_op=True) for bucket in buckets]:
            work.wait()
        sweeps()

    sweeps()  # makes what it keeps
    while orders.get() == "sample":
        for name, run in (("torch-step", step), ("torch-sweeps", sweeps)):
            for _ in range(SAMPLES):
                whole.fill_(1e-3)
                torch.distributed.barrier()
                begin = time.perf_counter()
                run()
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
        peers = [context.Process(target=torchs, args=(rank, options.ranks, place, orders[rank], answers))
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
    print(f"{options.ranks} ranks, {options.rounds} rounds")
    for name, seconds in times.items():
        print(f"{name:16} {statistics.median(seconds) * 1e3:8.1f} ms")
    for name, peer in (("step", "torch-step"), ("step", "step-in-passes"), ("sweeps", "torch-sweeps"),
                       ("sweeps", "sweeps-in-passes")):
        ratios = sorted(base / own for base, own in zip(times[peer], times[name]))
        ends = f"[{ratios[0]:.2f}, {ratios[-1]:.2f}]" if len(ratios) >= 6 else ""  # six: the fewest for 95%
        print(f"{name} is {statistics.median(ratios):.2f} {ends} times as fast as {peer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
