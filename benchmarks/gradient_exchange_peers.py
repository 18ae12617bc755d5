#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exchange of bench_gradient_exchange beside torch's gloo, on the ranks of one machine.

usage: gradient_exchange_peers.py --program build/release/benchmarks/bench_gradient_exchange [--ranks 2] [--rounds 7]
       (needs PyTorch with gloo, and mpirun)

The same 160 tensors of 25 million floats. In each round gloo's processes take 3 samples, then the program's 3, and the
median of each counts: one after the other, so that neither computes while the other is timed. `gloo` starts an
all-reduce for each tensor, then waits for all; `gloo in buckets` uses buckets of 25 MiB, as
DistributedDataParallel does. Prints the median of the rounds, and the ratio to gloo's faster way with the range in
which 95% of such medians lie (order statistics).
"""

import statistics
import sys

import torch
import torch.distributed
from beside_torch import Ways, options_of, ratio, sizes, times_in_turns


def ways(ranks: int) -> Ways:
    one = [torch.zeros(size) for size in sizes()]
    buckets = list(torch.zeros(sum(sizes())).split((25 << 20) // 4))

    def sum_all(tensors: list[torch.Tensor]) -> None:
        for work in [torch.distributed.all_reduce(tensor, async_op=True) for tensor in tensors]:
            work.wait()

    return {"gloo": lambda: sum_all(one), "gloo in buckets": lambda: sum_all(buckets)}


def main() -> int:
    options = options_of(__doc__)
    times = times_in_turns(options, ways)
    best = min(("gloo", "gloo in buckets"), key=lambda name: statistics.median(times[name]))
    print(f"{options.ranks} ranks, {options.rounds} rounds; times as fast as {best}")
    for name, seconds in times.items():
        print(f"{name:16} {statistics.median(seconds) * 1e3:8.1f} ms {ratio(times[best], seconds)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
