# SPDX-License-Identifier: Apache-2.0
"""Scripts that several ranks run under mpirun; what tests need that start ranks, or that are ranks of a job."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

# The suite may itself be run by mpirun: each rank runs all tests, and those that call all ranks call together.
IN_A_JOB = int(os.environ.get("OMPI_COMM_WORLD_SIZE", "1")) > 1
WHY_NO_RANKS = "ranks start none" if IN_A_JOB else "" if shutil.which("mpirun") else "there is no mpirun"
needs_mpirun = pytest.mark.skipif(bool(WHY_NO_RANKS), reason=WHY_NO_RANKS or "there is mpirun")


def alone(reason):
    """Mark of tests that are one process's: of others' ranks they would be disturbed, or say another thing."""
    return pytest.mark.skipif(IN_A_JOB, reason=f"on ranks: {reason}")


ROOT = pathlib.Path(__file__).resolve().parents[2]

# On stdout the words of several ranks may mix.
TELL = """
import pathlib

def tell(rank, *words):
    with open(pathlib.Path(__file__).parent / f"rank-{rank}", "a") as file:
        print(*words, file=file)
"""

BEGIN = """
import sys, torch
import torch.distributed as dist
import d5, d5.torch_backend
torch.set_num_threads(1)
dist.init_process_group("d5")
rank, ranks = dist.get_rank(), dist.get_world_size()
"""


def launch(file, ranks, *arguments):
    if WHY_NO_RANKS:
        pytest.skip(WHY_NO_RANKS)
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    command = ["mpirun", "--oversubscribe", "-np", str(ranks), sys.executable, str(file), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)


def launch_script(script, folder, ranks, *arguments):
    file = folder / "job.py"
    file.write_text(script)
    return launch(file, ranks, *arguments)


def output_of_two(script, folder):
    """What the two ranks of a job that ends well print."""
    job = launch_script(script, folder, 2)
    assert job.returncode == 0, job.stdout + job.stderr
    return job.stdout


def run(tmp_path, script, ranks, *arguments):
    """What each rank of a job that ends well tells, as lines."""
    for words in tmp_path.glob("rank-*"):
        words.unlink()
    job = launch_script(TELL + script, tmp_path, ranks, *arguments)
    assert job.returncode == 0, job.stderr
    told = [(tmp_path / f"rank-{rank}").read_text().splitlines() for rank in range(ranks)]
    assert all(lines[-1] == "ended" for lines in told)
    return told


PARTS = """
import linecache
for name, part in {parts!r}.items():
    linecache.cache[name] = (len(part), None, part.splitlines(keepends=True), name)  # for tracebacks
    exec(compile(part, name, "exec"), dict(globals()))
    tell(d5.world().rank, name)
"""


class Parts:
    """Scripts that begin alike: all that run on as many ranks are one job, for its imports take longer than they do.
    One that fails ends the job, and others with it; the traceback names it."""

    def __init__(self, folder, begin, parts):
        self.folder, self.begin, self.parts, self.jobs = folder, begin, parts, {}

    def check(self, name, ranks):
        if ranks not in self.jobs:
            chosen = {name: script for name, (script, *numbers) in self.parts.items() if ranks in numbers}
            folder = self.folder / str(ranks)
            folder.mkdir(exist_ok=True)
            job = launch_script(TELL + self.begin + PARTS.format(parts=chosen), folder, ranks)
            ended = [file.read_text().splitlines() for file in folder.glob("rank-*")]
            self.jobs[ranks] = job, ended
        job, ended = self.jobs[ranks]
        assert len(ended) == ranks and all(name in names for names in ended), job.stderr
        assert job.returncode == 0 or name != ended[0][-1], job.stderr  # its last has to end it well
