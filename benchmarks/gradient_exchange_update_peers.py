#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The step of bench_gradient_exchange_update beside torch's, on the ranks of one machine.

usage: gradient_exchange_update_peers.py --program build/release/benchmarks/bench_gradient_exchange_update
       [--ranks 2] [--rounds 7]
       (needs PyTorch with gloo, and mpirun)

The same 160 tensors of 25 million floats. `torch-sweeps` is `clip_grad_norm_` and `Adam(fused=True)` on one thread,
`torch-step` gloo before it: gradients are views of buckets of 25 MiB, which are divided by the ranks and summed, as
DistributedDataParallel does. In each round torch's processes take 3 samples, then the program's 3, and the median of
each counts: neither computes while the other is timed. Prints the median of the rounds, and the speedup of d5 in
the same round, with the range in which 95% of such medians lie (order statistics).
"""

import statistics
import sys

import torch
import torch.distributed
from beside_torch import Ways, options_of, ratio, sizes, times_in_turns


def ways(ranks: int) -> Ways:
    whole = torch.full((sum(sizes()),), 1e-3)
    buckets = list(whole.split((25 << 20) // 4))
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes()]
    for parameter, gradient in zip(parameters, whole.split(sizes())):
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

    sweeps()  # warm-up: allocates the state
    return {"torch-step": step, "torch-sweeps": sweeps}


def main() -> int:
    options = options_of(__doc__)
    times = times_in_turns(options, ways)
    print(f"{options.ranks} ranks, {options.rounds} rounds")
    for name, seconds in times.items():
        print(f"{name:16} {statistics.median(seconds) * 1e3:8.1f} ms")
    for name, peer in (
        ("step", "torch-step"),
        ("step", "step-in-passes"),
        ("sweeps", "torch-sweeps"),
        ("sweeps", "sweeps-in-passes"),
    ):
        print(f"{name} is {ratio(times[peer], times[name])} times as fast as {peer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
