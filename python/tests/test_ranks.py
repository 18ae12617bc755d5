# SPDX-License-Identifier: Apache-2.0
"""Jobs of several ranks."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from rank_jobs import WHY_NO_RANKS, alone, launch_script

IMPORTS = {
    "d5 alone": "import d5",
    "mpi4py first": "from mpi4py import MPI\nimport d5",
    "mpi4py second": "import d5\nd5.world()\nfrom mpi4py import MPI",
}


@pytest.fixture(scope="module")
def jobs(request, tmp_path_factory):
    """The jobs of the chosen tests, six at a time: one whose rank leaves alone waits seconds for the others."""
    if WHY_NO_RANKS:
        pytest.skip(WHY_NO_RANKS)
    items = [
        item
        for item in request.session.items
        if item.module is request.module and "job" in item.fixturenames
    ]
    scripts = dict.fromkeys(item.callspec.params["job"] for item in items)
    with ThreadPoolExecutor(6) as pool:
        yield {script: pool.submit(launch_script, script, tmp_path_factory.mktemp("job"), 3) for script in scripts}


@pytest.fixture
def job(request, jobs):
    if "mpi4py" in request.param:
        pytest.importorskip("mpi4py", reason="mpi4py is not installed; scripts/setup installs it")
    return jobs[request.param].result()


def in_every_order(script):
    """A test of the job that `script` makes after the imports, in each order of them."""
    jobs = [pytest.param(f"{imports}\n{script}", id=order) for order, imports in IMPORTS.items()]
    return pytest.mark.parametrize("job", jobs, indirect=True)


@in_every_order("all = d5.world()\nall.barrier()\nprint(f'rank {all.rank} ended')")
def test_ranks_that_all_end_well_end_the_job_so(job):
    assert job.returncode == 0, job.stderr
    assert all(f"rank {rank} ended" in job.stdout for rank in range(3))


def leaving(how):
    return f"""
import sys
class Stop(SystemExit): pass
all = d5.world()
all.barrier()
print(f"rank {{all.rank}} began")
if all.rank == 1:
    {how}
all.barrier()
print("never here")
"""


def check_that_all_ended(job):
    assert "rank 1 began" in job.stdout and "never here" not in job.stdout


@in_every_order(leaving("raise RuntimeError('the loss is not a number')"))
def test_an_exception_of_one_rank_ends_the_job(job):
    check_that_all_ended(job)
    assert job.returncode == 1
    assert "RuntimeError: the loss is not a number" in job.stderr


@in_every_order(leaving("sys.exit(3)"))
def test_the_exit_of_one_rank_with_a_status_ends_the_job(job):
    check_that_all_ended(job)
    assert job.returncode == 3


@in_every_order(leaving("raise SystemExit('the loss is not a number')"))
def test_so_does_one_with_a_text_which_is_printed_once(job):
    check_that_all_ended(job)
    assert job.returncode == 1
    assert job.stderr.count("the loss is not a number") == 1


WAYS = {"raise SystemExit(1)": 1, "raise Stop(2)": 2, "exit(4)": 4}


@pytest.mark.parametrize(
    "job, status",
    [(f"{IMPORTS['mpi4py first']}\n{leaving(how)}", status) for how, status in WAYS.items()],
    ids=WAYS,
    indirect=["job"],
)
def test_every_way_to_exit_is_seen(job, status):
    check_that_all_ended(job)
    assert job.returncode == status


def catching(how):
    return f"""
import sys, threading
all = d5.world()
def leave():
    {how}
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


def check_that_none_ended(job):
    assert job.returncode == 0, job.stderr
    assert all(f"rank {rank} ended" in job.stdout for rank in range(3))


@in_every_order(catching("sys.exit(3)"))
def test_an_exit_that_is_caught_ends_nothing(job):
    check_that_none_ended(job)


@in_every_order(catching("raise SystemExit(3)"))
def test_nor_does_one_that_is_raised_and_caught(job):
    check_that_none_ended(job)


BESIDE_MPI4PY = """
from mpi4py import MPI
import numpy, d5
comm = MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)
ranks = d5.Communicator.of(comm)
assert (ranks.rank, ranks.size) == (comm.rank, comm.size)
ours = d5.Tensor(numpy.array([comm.rank, 1.0]))
theirs = numpy.array([2.0])
request = comm.Iallreduce(MPI.IN_PLACE, theirs)
ranks.all_reduce(ours)
request.Wait()
assert numpy.asarray(ours).tolist() == [3, 3] and theirs.tolist() == [6]
again = d5.Communicator.of(MPI._addressof(comm))
again.barrier()
assert comm.allreduce(1) == 3
for wrong in ("world", None, MPI.FLOAT):
    try:
        d5.Communicator.of(wrong)
    except d5.TypeError as error:
        assert "expected a communicator of mpi4py" in str(error)
    else:
        raise AssertionError(wrong)
print(f"rank {MPI.COMM_WORLD.rank} ended")
"""


@pytest.mark.parametrize("job", [BESIDE_MPI4PY], ids=["mpi4py"], indirect=True)
def test_a_communicator_of_mpi4py_is_one_of_d5(job):
    check_that_none_ended(job)


@alone("its program would take itself for the rank that started it")
def test_importing_d5_loads_no_mpi():
    look = "print('libmpi' in open('/proc/self/maps').read())"
    script = f"import d5\nd5.world().barrier()\n{look}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize(
    "job", ["import d5\nd5.world().barrier()\nraise RuntimeError('no data')"], ids=["all"], indirect=True
)
def test_a_traceback_of_several_ranks_is_printed_once_with_a_rank(job):
    assert job.returncode == 1
    assert job.stderr.count("RuntimeError: no data") == 1
    assert job.stderr.count(" of 3:\nTraceback") == 1


TO_MPI4PY = """
import numpy, d5
from mpi4py import MPI
ranks = d5.world()
comm = ranks.mpi4py()
assert (comm.rank, comm.size) == (ranks.rank, 3)
pair = ranks.split(0 if ranks.rank != 1 else -1, -ranks.rank)
if pair:
    few = pair.mpi4py()
    assert (few.rank, few.size) == (pair.rank, 2)
    assert few.allgather(ranks.rank) == [2, 0]
assert comm.allreduce(ranks.rank) == 3
print(f"rank {ranks.rank} ended")
"""


@pytest.mark.parametrize("job", [TO_MPI4PY], ids=["mpi4py"], indirect=True)
def test_a_communicator_of_d5_is_one_of_mpi4py(job):
    check_that_none_ended(job)
