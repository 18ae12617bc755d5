# SPDX-License-Identifier: Apache-2.0
"""Jobs of several ranks."""

import os
import shutil
import subprocess
import sys

import pytest

IMPORTS = {
    "d5 alone": "import d5",
    "mpi4py first": "from mpi4py import MPI\nimport d5",
    "mpi4py second": "import d5\nd5.world()\nfrom mpi4py import MPI",
}


def run(script, folder):
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    if "mpi4py" in script:
        pytest.importorskip("mpi4py", reason="mpi4py is not installed; scripts/setup installs it")
    file = folder / "job.py"
    file.write_text(script)
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    command = ["mpirun", "--oversubscribe", "-np", "3", sys.executable, str(file)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("order", IMPORTS)
def test_ranks_that_all_end_well_end_the_job_so(order, tmp_path):
    job = run(f"{IMPORTS[order]}\nall = d5.world()\nall.barrier()\nprint(f'rank {{all.rank}} ended')", tmp_path)
    assert job.returncode == 0, job.stderr
    assert all(f"rank {rank} ended" in job.stdout for rank in range(3))


@pytest.mark.parametrize("order", IMPORTS)
def test_an_exception_of_one_rank_ends_the_job(order, tmp_path):
    script = f"""{IMPORTS[order]}
all = d5.world()
all.barrier()
print(f"rank {{all.rank}} began")
if all.rank == 1:
    raise RuntimeError("the loss is not a number")
all.barrier()
print("never here")
"""
    job = run(script, tmp_path)
    assert job.returncode == 1
    assert "RuntimeError: the loss is not a number" in job.stderr
    assert "rank 1 began" in job.stdout and "never here" not in job.stdout


def exit_of_one_rank(order, leave, folder):
    script = f"""{IMPORTS[order]}
import sys
class Stop(SystemExit): pass
all = d5.world()
all.barrier()
print(f"rank {{all.rank}} began")
if all.rank == 1:
    {leave}
all.barrier()
print("never here")
"""
    job = run(script, folder)
    assert "rank 1 began" in job.stdout and "never here" not in job.stdout
    return job


@pytest.mark.parametrize("order", IMPORTS)
def test_the_exit_of_one_rank_with_a_status_ends_the_job(order, tmp_path):
    assert exit_of_one_rank(order, "sys.exit(3)", tmp_path).returncode == 3


@pytest.mark.parametrize("order", IMPORTS)
def test_so_does_one_with_a_text_which_is_printed_once(order, tmp_path):
    job = exit_of_one_rank(order, "raise SystemExit('the loss is not a number')", tmp_path)
    assert job.returncode == 1
    assert job.stderr.count("the loss is not a number") == 1


@pytest.mark.parametrize("leave, status", [("raise SystemExit(1)", 1), ("raise Stop(2)", 2), ("exit(4)", 4)])
def test_every_way_to_exit_is_seen(leave, status, tmp_path):
    assert exit_of_one_rank("mpi4py first", leave, tmp_path).returncode == status


@pytest.mark.parametrize("order", IMPORTS)
@pytest.mark.parametrize("leave", ["sys.exit(3)", "raise SystemExit(3)"])
def test_an_exit_that_is_caught_ends_nothing(order, leave, tmp_path):
    script = f"""{IMPORTS[order]}
import sys, threading
all = d5.world()
def leave():
    {leave}
try:
    leave()
except SystemExit as exit:
    assert exit.code == getattr(exit, "code") == 3
thread = threading.Thread(target=leave)
thread.start()
thread.join()
all.barrier()
print(f"rank {{all.rank}} ended")
sys.exit(0)
"""
    job = run(script, tmp_path)
    assert job.returncode == 0, job.stderr
    assert all(f"rank {rank} ended" in job.stdout for rank in range(3))
