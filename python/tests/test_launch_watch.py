# SPDX-License-Identifier: Apache-2.0
"""Ranks of d5.launch that wait for each other in vain, and what a killed launcher leaves."""

import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rank_jobs import alone, needs_mpirun

import d5

pytestmark = [alone("they start none"), needs_mpirun]


def leave_early():
    if d5.world().rank == 0:
        d5.world().all_reduce(d5.Tensor(np.zeros(3)))


def meet_nobody():
    if d5.world().rank == 0:
        d5.world().barrier()


def differ():
    ranks = d5.world()
    if ranks.rank == 0:
        ranks.barrier()
    else:
        ranks.all_reduce(d5.Tensor(np.zeros(3)))


def wait_for_none():
    if d5.world().rank == 0:
        d5.world().receive(d5.Tensor(np.zeros(1)), 1)


def compute_alone():
    if d5.world().rank == 0:
        time.sleep(1)
    return d5.world().rank


def sleep_long():
    if d5.world().rank == 1:
        time.sleep(60)
    d5.world().barrier()


def test_a_rank_that_returns_while_another_waits_is_named():
    with pytest.raises(d5.CommunicationError, match="all_reduce of 3 x float64, sum at rank 0.* rank 1 returned"):
        d5.launch(leave_early, ranks=2)


def test_a_barrier_of_one_rank_is_no_end_of_the_others_function():
    with pytest.raises(d5.CommunicationError, match="barrier at rank 0; no further call at rank 1.* rank 1 returned"):
        d5.launch(meet_nobody, ranks=2, timeout=20)


def test_different_calls_are_named_with_their_ranks():
    with pytest.raises(d5.CommunicationError, match="all_reduce of 3 x float64, sum at rank 1; barrier at rank 0"):
        d5.launch(differ, ranks=2)


def test_a_wait_that_takes_longer_than_the_timeout_is_named():
    with pytest.raises(d5.CommunicationError, match="receive.*rank 1.* rank 1 returned from the function"):
        d5.launch(wait_for_none, ranks=2, timeout=2)
    begun = time.monotonic()
    with pytest.raises(d5.CommunicationError, match="barrier.*not there: rank 1"):
        d5.launch(sleep_long, ranks=2, timeout=2)
    assert time.monotonic() - begun < 40
    with pytest.raises(d5.ValueError, match="a timeout of 0"):
        d5.launch(sleep_long, ranks=2, timeout=0)


def test_ranks_may_end_at_other_times():
    assert d5.launch(compute_alone, ranks=2, timeout=0.5) == [0, 1]
    assert d5.launch(compute_alone, ranks=2, call_order=False) == [0, 1]


KILLED = """
import sys, tempfile, time, pathlib
import d5

tempfile.tempdir = sys.argv[1]

def wait(file):
    file.touch()
    time.sleep(60)

d5.launch(wait, pathlib.Path(sys.argv[2]), ranks=2)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_launcher_leaves_no_folder(how, tmp_path):
    script, scratch, begun = tmp_path / "killed.py", tmp_path / "scratch", tmp_path / "begun"
    script.write_text(KILLED)
    scratch.mkdir()
    process = subprocess.Popen([sys.executable, script, scratch, begun])
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.05)
    assert list(scratch.glob("d5-launch-*"))
    process.send_signal(how)
    process.wait()
    end = time.monotonic() + 20
    while list(scratch.iterdir()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list(scratch.iterdir())


def train_without_cut(cut: bool):
    ranks = d5.world()
    samples = {"image": np.random.default_rng(1).random((8, 1, 28, 28), np.float32), "label": np.arange(8) % 10}
    executor = d5.executor(d5.model("mlp", seed=1, with_loss=True, width=4))
    optimizer = d5.distributed_optimizer("consistent_decentralized", d5.optimizer("sgd", executor))
    sampler = d5.sampler("ordered", d5.tensor_dataset(samples), batch_size=4)
    if cut:
        sampler.take_part(ranks.rank, ranks.size)
    d5.Trainer(optimizer, sampler).run()


def test_a_sampler_that_was_not_cut_is_refused_on_ranks():
    d5.launch(train_without_cut, True, ranks=2)
    with pytest.raises(d5.ValueError, match=r"same first batch of 4 samples.*take_part\(rank, ranks\)"):
        d5.launch(train_without_cut, False, ranks=2)
