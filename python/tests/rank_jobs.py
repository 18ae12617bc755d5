# SPDX-License-Identifier: Apache-2.0
"""Scripts that several ranks run under mpirun."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

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
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
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
