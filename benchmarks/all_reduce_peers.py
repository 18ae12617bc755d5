#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All-reduce by size: d5's algorithms beside mpi4py and torch's gloo, on the ranks of one machine.

usage: all_reduce_peers.py [--program build/release/bin/d5] [--ranks 2,4] [--sizes 4B,1MiB] [--rounds 7] [--samples 5]
                           [--out FILE.json] [--ranges] [--quick]
       (needs mpirun; mpi4py and PyTorch with gloo, each left out with a message if missing)

In each round `d5 all-reduce bench` takes its samples of all sizes, then mpi4py (`Allreduce` in place on numpy's float32),
then gloo (`all_reduce` of a tensor), each with the same number of processes under mpirun: one after the other, so that
none computes while another is timed. A sample is defined as in `d5 all-reduce bench`, for the peers too: new data, a
barrier, consecutive calls that add up to 64 KiB (64 at most), each on separate memory; the time is that of the slowest
rank. The first call of each size is compared with the expected sum, and is not timed. Ranks are pinned if each has a core.

The result of a round is the median of its samples. `best` has the least median over the rounds of a size. The table gives
the times of the others as multiples of it, as the median of the rounds' ratios, and for `auto` over the best of d5's
also the range of those ratios: from six rounds on, 95% of such medians lie in it (order statistics). `auto` measures the
fastest algorithm again, in the first round. The overhead of Python in a call is part of a peer's time.
"""

import argparse
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
SIZES = "4B,16B,64B,256B,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB"
PEERS = {"mpi4py": "mpi4py", "gloo": "torch"}  # with the required module


def bytes_of(size: str) -> int:
    words = re.fullmatch(r"(\d+)(B|KiB|MiB)", size)
    if not words or int(words[1]) * UNITS[words[2]] % 4:
        raise SystemExit(f"--sizes: {size} is no number of floats; expected one such as 4B, 64KiB or 1MiB")
    return int(words[1]) * UNITS[words[2]]


# A peer is one process per rank. Peers differ in their start, and in these three functions.


def mpi4py_calls():
    from mpi4py import MPI

    ranks = MPI.COMM_WORLD

    def all_reduce(data) -> None:
        ranks.Allreduce(MPI.IN_PLACE, data)

    def slowest(seconds: float) -> float:
        return ranks.allreduce(seconds, MPI.MAX)

    return ranks.rank, ranks.size, all_reduce, ranks.Barrier, slowest, lambda data: data


def gloo_calls(place: str):
    import torch
    import torch.distributed as ranks

    torch.set_num_threads(1)
    rank, size = (int(os.environ[f"OMPI_COMM_WORLD_{word}"]) for word in ("RANK", "SIZE"))
    ranks.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=size)

    def slowest(seconds: float) -> float:
        most = torch.tensor(seconds, dtype=torch.float64)
        ranks.all_reduce(most, ranks.ReduceOp.MAX)
        return float(most)

    return rank, size, ranks.all_reduce, ranks.barrier, slowest, torch.from_numpy


def peer(name: str, place: str, sizes: list[int], samples: int) -> None:
    """Prints, on rank 0, a list of seconds for each size."""
    import numpy

    rank, size, all_reduce, barrier, slowest, view = mpi4py_calls() if name == "mpi4py" else gloo_calls(place)
    cores = sorted(os.sched_getaffinity(0))
    if size <= len(cores):
        os.sched_setaffinity(0, {cores[rank]})
    times: list[list[float]] = []
    for bytes in sizes:
        calls = min(max((64 << 10) // bytes, 1), 64)
        whole = numpy.arange(bytes // 4, dtype=numpy.int64)
        memory = [numpy.empty(bytes // 4, numpy.float32) for _ in range(calls)]
        data = [view(one) for one in memory]

        def fill(drawn: int) -> None:  # whole numbers below 64: float32 sums them without rounding
            for call, one in enumerate(memory):
                one[:] = (whole + (7 * rank + 5 * drawn + call)) & 63

        fill(0)
        all_reduce(data[0])
        if not (memory[0] == sum((whole + 7 * other) & 63 for other in range(size))).all():
            raise SystemExit(f"{name}: rank {rank}: sums of {bytes} bytes are wrong")
        times.append([])
        for drawn in range(1, samples + 2):  # the first warms up
            fill(drawn)
            barrier()
            begin = time.perf_counter()  # inside: the calls
            for one in data:
                all_reduce(one)
            seconds = time.perf_counter() - begin
            times[-1].append(slowest(seconds) / calls)
        del times[-1][0]
    if rank == 0:
        print(json.dumps(times))


def run(ranks: int, words: list[str], limit: float, **more: str) -> str:
    """The output of the ranks; `more` is added to their environment."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMP_NUM_THREADS="1", **more)
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=limit)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def d5_round(options, ranks: int, folder: str) -> dict[str, list[float]]:
    """The median of each size by algorithm, in the order of sizes."""
    out = os.path.join(folder, "d5.json")
    run(ranks, [options.program, "all-reduce", "bench", "--sizes", options.sizes, "--samples", str(options.samples),
                "--warmup", "1", "--threads", "1", "--allow-unsupported", "--quiet", "--format", "csv", "--out", out],
        options.limit, D5_CACHE_DIR=folder)  # `auto` measures again, in the first round
    with open(out) as file:
        records = [record for record in json.load(file)["measurements"] if record["metric"] == "time"]
    medians: dict[str, list[float]] = {}
    for record in records:
        if record["status"] not in ("passed", "mistrusted"):  # mistrusted: few samples a round
            raise SystemExit(f"{record['command']}: {record['status']}: {record.get('reason', '')}")
        name = record["subject"].removeprefix("all-reduce ")
        medians.setdefault("d5 mpi" if name == "mpi" else name, []).append(statistics.median(record["samples"]))
    return medians


def peer_round(name: str, options, ranks: int, folder: str) -> list[float]:
    place = os.path.join(folder, "meeting")
    if os.path.exists(place):
        os.remove(place)
    words = [sys.executable, os.path.abspath(__file__), "--peer", name, "--place", place, "--sizes", options.sizes,
             "--samples", str(options.samples)]
    return [statistics.median(samples) for samples in json.loads(run(ranks, words, options.limit))]


def ratio(times: list[float], to: list[float]) -> tuple[float, str]:
    """The median of the rounds' ratios, and their range in words."""
    ratios = sorted(one / other for one, other in zip(times, to))
    return statistics.median(ratios), f"[{ratios[0]:.2f}, {ratios[-1]:.2f}]"


def tell(ranks: int, sizes: list[str], times: dict[str, list[list[float]]], ranges: bool) -> None:
    """`times`: by name, a list of rounds for each size."""
    median = {name: [statistics.median(rounds) for rounds in by_size] for name, by_size in times.items()}
    peers = [name for name in times if name in PEERS]
    own = [name for name in times if name not in PEERS]
    names = [name for name in own if name != "auto"] + ["auto"] * ("auto" in times) + peers
    best = [min(names, key=lambda name: median[name][i]) for i in range(len(sizes))]
    rounds = len(times[names[0]][0])
    print(f"\n{ranks} ranks, {rounds} rounds: the best's time, and how many times as long the others take")
    if ranks > len(os.sched_getaffinity(0)):
        print("(more ranks than cores: that measures the machine's scheduler, too)")
    width = max(map(len, names))
    print(f"{'size':>8} {'best':>{width}} {'us':>10}  " + " ".join(f"{name:>{max(len(name), 6)}}" for name in names))
    for i, size in enumerate(sizes):
        cells = (f"{ratio(times[name][i], times[best[i]][i])[0]:{max(len(name), 6)}.2f}" for name in names)
        print(f"{size:>8} {best[i]:>{width}} {median[best[i]][i] * 1e6:10.2f}  " + " ".join(cells))
    fixed = [name for name in own if name != "auto"]
    if "auto" in times and fixed:
        print("\nauto over the best of d5's:")
        for i, size in enumerate(sizes):
            first = min(fixed, key=lambda name: median[name][i])
            middle, ends = ratio(times["auto"][i], times[first][i])
            print(f"{size:>8} {middle:6.2f} {ends}  {first}")
    if ranges:
        print("\nmedian and range of the rounds, us; times the best's, and range:")
        for i, size in enumerate(sizes):
            for name in sorted(names, key=lambda name: median[name][i]):
                all_rounds = times[name][i]
                middle, ends = ratio(all_rounds, times[best[i]][i])
                span = f"[{min(all_rounds) * 1e6:.2f}, {max(all_rounds) * 1e6:.2f}]"
                print(f"{size:>8} {name:{width}} {median[name][i] * 1e6:10.2f} {span:24} {middle:6.2f} {ends}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/release/bin/d5")
    parser.add_argument("--ranks", default="2,4", help="N,M: each a table")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--samples", type=int, default=5, help="samples per size and round")
    parser.add_argument("--limit", type=float, default=900, help="seconds that one peer's round may take")
    parser.add_argument("--out", help="every round's median, in seconds, as JSON")
    parser.add_argument("--ranges", action="store_true", help="each peer's time and range too")
    parser.add_argument("--quick", action="store_true", help="quick trial: three sizes, two rounds of two samples; overrides the other options")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--place", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.rounds, options.samples = "4B,64KiB,1MiB", 2, 2
    sizes = options.sizes.split(",")
    bytes = [bytes_of(size) for size in sizes]
    if options.peer:
        peer(options.peer, options.place, bytes, options.samples)
        return 0
    peers = [name for name, module in PEERS.items() if importlib.util.find_spec(module)]
    for name in PEERS.keys() - set(peers):
        print(f"{name} is left out: there is no module {PEERS[name]}", file=sys.stderr)
    results: dict[str, dict[str, list[list[float]]]] = {}
    for ranks in map(int, options.ranks.split(",")):
        times: dict[str, list[list[float]]] = {}
        with tempfile.TemporaryDirectory() as folder:
            for done in range(options.rounds):
                medians = d5_round(options, ranks, folder)
                for name in peers:
                    medians[name] = peer_round(name, options, ranks, folder)
                for name, by_size in medians.items():
                    for i, seconds in enumerate(by_size):
                        times.setdefault(name, [[] for _ in sizes])[i].append(seconds)
                print(f"{ranks} ranks: round {done + 1} of {options.rounds}", file=sys.stderr)
        tell(ranks, sizes, times, options.ranges)
        results[str(ranks)] = times
        if options.out:
            with open(options.out, "w") as file:
                json.dump({"sizes": sizes, "samples": options.samples, "seconds": results}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
