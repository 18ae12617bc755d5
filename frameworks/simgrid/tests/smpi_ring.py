#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares d5's ring all-reduce over the network `simgrid` with SMPI's own ring.

SMPI is SimGrid's MPI: its all-reduce `lr` (a ring that reduces, then one that gathers) runs on the
same hosts, links and model, in its own program (smpi_ring.c). Within 0.1%: SMPI's ranks leave their
barrier up to a latency apart.

    smpi_ring.py PROGRAM [RANKS...]     PROGRAM: d5
"""
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 4
LATENCY, BANDWIDTH, FLOATS = 50e-6, 1e9, 25_000_000
SOURCE = pathlib.Path(__file__).with_name("smpi_ring.c")
# The model of frameworks/simgrid/flow_engine.cpp, without MPI's own overhead.
SETTINGS = (
    "network/model:CM02 network/crosstraffic:0 network/TCP-gamma:0 network/weight-S:0 smpi/allreduce:lr "
    "smpi/simulate-computation:no smpi/os:0:0:0:0:0 smpi/or:0:0:0:0:0"
).split()


def smpi(folder: pathlib.Path, ranks: int) -> float:
    """Seconds of SMPI's ring on the slowest rank."""
    (folder / "platform.xml").write_text(
        f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="network" prefix="host" suffix="" radical="0-{ranks - 1}" speed="1Gf"
 bw="{BANDWIDTH}Bps" lat="{LATENCY / 2}s" sharing_policy="SPLITDUPLEX"/></platform>
"""
    )
    (folder / "hosts").write_text("".join(f"host{rank}\n" for rank in range(ranks)))
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [f"--cfg={setting}" for setting in SETTINGS]
    command += ["--log=root.thres:error", "./ring", str(FLOATS)]
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def d5(program: str, folder: pathlib.Path, ranks: int) -> float:
    network = folder / "network.yaml"
    network.write_text(
        f"""name: star
hosts: {ranks}
latency: {{value: {LATENCY}, source: chosen}}
bandwidth: {{value: {BANDWIDTH}, source: chosen}}
"""
    )
    command = [program, "cluster", "show", str(network), "--ranks", str(ranks), "--all-reduce", "ring"]
    command += ["--model", "simgrid", "--bytes", str(4 * FLOATS), "--format", "csv"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(next(csv.DictReader(io.StringIO(out)))["seconds"])


def main() -> int:
    program, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]] or [2, 8, 32]
    missing = [tool for tool in ("smpicc", "smpirun") if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {' and no '.join(missing)} (Debian: libsimgrid-dev)")
        return SKIPPED
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["smpicc", "-O2", str(SOURCE), "-o", "ring"], cwd=folder, check=True)
        print(f"{'ranks':>5} {'SMPI, s':>12} {'d5, s':>12} {'off':>8}")
        for ranks in numbers:
            theirs, ours = smpi(folder, ranks), d5(program, folder, ranks)
            worst = max(worst, abs(ours / theirs - 1))
            print(f"{ranks:5} {theirs:12.6f} {ours:12.6f} {100 * (ours / theirs - 1):7.3f}%")
    return 0 if worst <= 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
