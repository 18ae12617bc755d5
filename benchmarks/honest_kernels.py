#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Honest sources that `d5 op judge` refuses: there should be none.

usage: honest_kernels.py [--program build/release/bin/d5] [--draw 200] [--seed 0] [--folder FOLDER] [--jobs 1]
                         [--only WORD]

Writes sources of operators in styles, as people write them (loops, blocks, scratch memory, threads, OpenMP, a tuner,
NumPy, ctypes ...), judges each on odd sizes, and prints what was refused, with the reason. `--draw` sources are drawn
from all pairs of operator and style, so that each operator and each style has one if there is room; 0 is all. Exit
status 1 if one was refused.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from honest_sources import PYTHON_STYLES, STYLES, C, Style, c_source, drawn, python_source


def style_of(way: str) -> Style:
    return STYLES.get(way, Style(threads=PYTHON_STYLES.get(way, (0, 1))[1], ending=".py"))


def refusals(program: str, pair: tuple[str, str], folder: pathlib.Path) -> list[str]:
    """Reasons of refused cases."""
    name, way = pair
    stem = f"{name}-{way}".replace(" ", "_")
    refused = []
    for dtype in ("float", "double"):
        cases = [case for case in C[name][0] if ("float64:" in case) == (dtype == "double")]
        if not cases or (way in PYTHON_STYLES and dtype == "double"):
            continue
        style = style_of(way)
        source = folder / f"{stem}-{dtype}{style.ending}"
        source.write_text(python_source(name, way) if style.ending == ".py" else c_source(name, style, dtype))
        words = [program, "op", "judge", str(source), "--samples", "6", "--warmup", "2", "--call-seconds", "60",
                 "--threads", str(style.threads), "--format", "json", "--quiet",
                 *(["--gradients"] if way == "gradients" else []), "--for", *cases]
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
        done = subprocess.run(words, capture_output=True, text=True,
                              env={**os.environ, "PATH": path, "CXXFLAGS": style.flags})
        rows = json.loads(done.stdout)["measurements"] if done.returncode in (0, 1) and done.stdout else []
        if not rows:
            refused.append(f"{stem}: {done.stderr.strip()}")
        refused += [f"{stem}: {row['subject']}: {row['reason']}" for row in rows
                    if row["status"] in ("failed", "unsupported")]
    return refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default="build/release/bin/d5")
    parser.add_argument("--draw", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="keeps the sources here")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="pairs whose operator or style has this in its name")
    arguments = parser.parse_args()
    chosen = [pair for pair in drawn(0 if arguments.only else arguments.draw, arguments.seed)
              if arguments.only in " ".join(pair)]
    cores = len(os.sched_getaffinity(0))
    for name, way in chosen:
        if style_of(way).threads > cores:
            print(f"skipped: {name} {way}: it has {style_of(way).threads} threads, and this process {cores} core")
    chosen = [pair for pair in chosen if style_of(pair[1]).threads <= cores]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = pathlib.Path(arguments.folder or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        found = list(pool.map(lambda pair: refusals(arguments.program, pair, folder), chosen))
    for reason in sum(found, []):
        print(reason)
    print(f"{len(chosen)} honest sources, {sum(bool(reasons) for reasons in found)} refused, "
          f"{time.monotonic() - begin:.0f} s")
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main())
