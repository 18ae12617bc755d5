# SPDX-License-Identifier: Apache-2.0
"""Functions on ranks that d5 starts."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rank_jobs import alone, needs_mpirun

import d5

RECIPE = pathlib.Path(__file__).resolve().parents[2] / "recipes" / "mnist-lenet-quick.yaml"

pytestmark = alone("they start none")


def sum_of_ranks(values, *, factor=1):
    ranks = d5.world()
    mine = d5.Tensor(np.asarray(values, np.float64) * (ranks.rank + 1) * factor)
    ranks.all_reduce(mine)
    print(f"rank {ranks.rank} of {ranks.size} summed")
    return ranks.rank, mine


def fail_at(rank):
    if d5.world().rank == rank:
        raise d5.ShapeError(f"rank {rank} has no data")
    d5.world().barrier()


def end_without_a_word():
    if d5.world().rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    d5.world().barrier()


@needs_mpirun
def test_each_rank_returns_its_result_and_what_they_print_appears_here(capsys):
    results = d5.launch(sum_of_ranks, [1.0, 2.0], ranks=3, factor=10)
    assert [rank for rank, _ in results] == [0, 1, 2]
    for _, values in results:
        np.testing.assert_array_equal(values, [60, 120])  # (1 + 2 + 3) * 10
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == [f"rank {rank} of 3 summed" for rank in range(3)]


def test_one_rank_needs_no_launcher(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert d5.launch(sum_of_ranks, [1.0], ranks=1)[0][0] == 0
    with pytest.raises(d5.NotFound, match="no mpirun"):
        d5.launch(sum_of_ranks, [1.0], ranks=2)


@needs_mpirun
def test_what_a_rank_raises_is_raised_here_with_its_rank_and_its_traceback():
    with pytest.raises(d5.ShapeError, match="rank 1 has no data") as raised:
        d5.launch(fail_at, 1, ranks=2)
    told = str(raised.value.__cause__)
    assert "rank 1 of 2" in told and "in fail_at" in told


@needs_mpirun
def test_a_rank_that_is_killed_ends_the_others():
    with pytest.raises(d5.CommunicationError, match="ended without a result, by SIGKILL"):
        d5.launch(end_without_a_word, ranks=2)


def leave(status):
    sys.exit(status)


def return_what_cannot_be_sent():
    return iter(lambda: 0, 1)


def test_an_exit_and_an_answer_that_cannot_be_sent_are_errors():
    with pytest.raises(d5.Error, match="SystemExit: 0"):
        d5.launch(leave, 0, ranks=1)
    with pytest.raises(d5.TypeError, match="returns cannot be sent back"):
        d5.launch(return_what_cannot_be_sent, ranks=1)
    with pytest.raises(d5.ValueError, match="0 ranks"):
        d5.launch(leave, 0, ranks=0)
    with pytest.raises(d5.TypeError, match="what it is given cannot be sent"):
        d5.launch(leave, open(os.devnull), ranks=1)


@needs_mpirun
def test_a_recipe_is_trained_on_ranks_as_on_one():
    few = ["training.epochs=1", "training.most_batches=4"]
    one, _ = d5.train(RECIPE, overrides=few, metrics=["loss"])
    two, _ = d5.train(RECIPE, overrides=few, metrics=["loss"], ranks=2)
    loss = next(row for row in two if row.metric == "loss")
    assert loss.conditions["ranks"] == 2
    expected = next(row for row in one if row.metric == "loss").samples
    np.testing.assert_allclose(loss.samples, expected, rtol=1e-4)  # sums of 32 samples in another order


MAIN = """
from __future__ import annotations
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING
import numpy as np
import d5
if TYPE_CHECKING:
    from nowhere import Nothing
print("the script runs once")
FACTORS = {"mine": 3}

@dataclass
class Answer:
    value: float
    kept: Nothing | None = None
    def doubled(self) -> float: return 2 * self.value

@functools.cache
def factor(name: str = "mine", at=FACTORS["mine"]) -> int: return FACTORS[name]

def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)

def work(array: np.ndarray) -> Answer:
    assert even(4)
    return Answer(float(array.sum()) * factor() + d5.world().rank)

def closure():
    own = 1
    def inner(): return own
    return inner

def wrong():
    raise KeyError("mine")

file = open(__file__)
def with_file(): return file.read()

def refused(error, text, function, *arguments):
    try:
        d5.launch(function, *arguments, ranks=1)
    except error as failure:
        assert text in str(failure), failure
        return failure
    raise AssertionError(function)

answers = d5.launch(work, np.ones(2), ranks=RANKS)
assert all(type(answer) is Answer for answer in answers)
print([answer.doubled() for answer in answers])
refused(d5.Unsupported, "define it by def or class", closure())
refused(d5.Unsupported, "define it by def or class", lambda: 1)
refused(d5.TypeError, "'file', which 'with_file' uses, cannot be sent", with_file)
told = str(refused(KeyError, "mine", wrong).__cause__)
assert 'raise KeyError("mine")' in told, told
"""


@pytest.mark.parametrize("kind", ["script", "cell"])
def test_functions_of_a_script_and_of_a_notebook_travel_as_source(kind, tmp_path):
    ranks = 2 if kind == "script" and shutil.which("mpirun") else 1
    text = MAIN.replace("RANKS", str(ranks))
    if kind == "cell":  # as IPython runs it: in __main__, with its lines where inspect finds them
        text = text.replace("open(__file__)", "open('/dev/null')")
        text = f"""
import linecache
text = {text!r}
linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
del __file__
exec(compile(text, "<cell 1>", "exec"), globals())
"""
    file = tmp_path / "main.py"
    file.write_text(text)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # (1 + 1) * 3 + rank, doubled
    assert done.stdout.splitlines() == ["the script runs once", str([12.0, 14.0][:ranks])]


REGISTERED = """
import d5

@d5.register("rule-of-a-script")
class Rule(d5.UpdateRule):
    def __init__(self, learning_rate: float = 0.25):
        self.learning_rate = learning_rate

    def update(self, gradient, value):
        value -= self.learning_rate * gradient

@d5.register(kind="loss")
def unsent(network, output, target, loss, scale: float = 1.0):
    FILE.read()

FILE = open(__file__)

def rules():
    return "rule-of-a-script" in d5.optimizers()

print(d5.launch(rules, ranks=2))
few = ["training.epochs=1", "training.most_batches=2", "optimizer.name=rule-of-a-script"]
rows = d5.train("mnist-lenet-quick", overrides=few, metrics=["loss"], ranks=2)[0]
print([row.status for row in rows if row.metric == "loss"])
"""


@needs_mpirun
def test_parts_that_a_script_registers_are_there_on_its_ranks(tmp_path):
    file = tmp_path / "main.py"
    file.write_text(REGISTERED)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[True, True]", "['passed']"]


WAITING = """
import os, pathlib, sys, time
import d5

def wait(folder):
    (folder / f"rank-{d5.world().rank}").write_text(str(os.getpid()))
    time.sleep(60)

d5.launch(wait, pathlib.Path(sys.argv[1]), ranks=2)
"""


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@needs_mpirun
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ranks_end_with_who_launched_them(how, tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING)
    process = subprocess.Popen([sys.executable, script, tmp_path], stderr=subprocess.PIPE, text=True)
    files = [tmp_path / "rank-0", tmp_path / "rank-1"]
    while not all(file.exists() and file.read_text() for file in files):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(how)
    _, told = process.communicate()
    if how == signal.SIGINT:
        assert told.count("KeyboardInterrupt") == 1, told
    ranks = [int(file.read_text()) for file in files]
    for _ in range(400):
        if not any(map(is_running, ranks)):
            break
        time.sleep(0.05)
    assert not any(map(is_running, ranks))
