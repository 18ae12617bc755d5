# SPDX-License-Identifier: Apache-2.0
"""Runs functions on newly started ranks."""

from __future__ import annotations

import codecs
import fcntl
import os
import pathlib
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
from typing import IO, Any, Callable, TypeVar, cast

from d5 import _d5
from d5._entries import registered_in_main
from d5._former import takes_former_keywords
from d5._launched_rank import Failure, Task, Watch, failure_file, lock_file, result_file, returned_file
from d5._nearest import knows_its_keywords
from d5._training_result import Overrides, TrainingResult, assignments, texts_of
from d5._words import in_words
from d5.errors import CommunicationError, Unsupported, ValueError

R = TypeVar("R")

_LONGEST_END = 10.0  # seconds that a terminated launcher may take


class RankTraceback(Exception):
    """Traceback of the failed rank, as text; the cause of an exception of `d5.launch`."""


@knows_its_keywords
def launch(
    function: Callable[..., R],
    *arguments: Any,
    ranks: int = 2,
    timeout: float | None = None,
    call_order: bool = True,
    **keywords: Any,
) -> list[R]:
    """Returns the result of `function(*arguments, **keywords)` on each of `ranks` ranks, in order.

    Within it `d5.world()` is all of them. They are new processes of this machine (several are
    started by mpirun), also from a notebook. Arguments and results are pickled. A function of a
    module is sent by name; one of the main module is sent as source, with everything that it names
    there and with the parts that it registers (`d5.register`). Output of the ranks appears here.

    The first rank that fails ends the others; its exception is raised here, with its rank and its
    traceback. Ctrl-C, and the end of this process, end them all.

    Collectives of `d5.world()` are compared between ranks before they begin, and its end with those
    of others: ranks that make different calls, or return while others wait, raise a
    CommunicationError that names ranks and calls. `call_order=False` saves the time that this takes
    (an all-gather of 48 bytes a call). With `timeout`, in s, every longer wait raises, too; without
    it, such waits are reported on stderr after 30 s.

        def share(total):
            ranks = d5.world()
            return total * (ranks.rank + 1) / ranks.size

        d5.launch(share, 100, ranks=4)  # [25.0, 50.0, 75.0, 100.0]

    Raises: TypeError for objects that cannot be sent, ValueError below 1 rank, Unsupported on ranks,
    NotFound without mpirun, CommunicationError for a rank that ended without a result.
    """
    if timeout is not None and not timeout > 0:
        raise ValueError(f"d5.launch: a timeout of {timeout} s, expected more than 0, or None")
    watch = Watch(timeout or 0.0, call_order)
    return launch_watched(watch, function, arguments, keywords, ranks)


def launch_watched(
    watch: Watch | None, function: Callable[..., R], arguments: Any, keywords: dict[str, Any], ranks: int
) -> list[R]:
    """`launch`; without a `watch`, calls between ranks are as fast as without d5.launch."""
    if _d5.world().size > 1:
        raise Unsupported(
            f"d5.launch: this is a rank of {_d5.world().size} already, which start no others; call "
            f"the function, and let one rank launch"
        )
    from d5._sent_source import send  # slow to import, so only here

    with (
        tempfile.TemporaryDirectory(prefix="d5-launch-") as name,
        lock_file(pathlib.Path(name)).open("ab") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = pathlib.Path(name)
        call = send("d5.launch", (function, arguments, keywords), list(registered_in_main.values()))
        task = Task(list(sys.path), watch, call)
        (folder / "task").write_bytes(pickle.dumps(task))
        code = f"from d5._launched_rank import run; run({name!r})"
        words = _d5.launch_words(ranks, [sys.executable, "-c", code])
        if ranks > 1:
            words.insert(1, "--quiet")  # errors are reported here
        status = _run(words)
        return [_result(folder, rank, ranks, status) for rank in range(ranks)]


def _run(words: list[str]) -> int:
    """The launcher's status. Its output goes to Python's stdout and stderr, which a notebook shows."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if os.geteuid() == 0:  # Open MPI asks twice; the user chose to run Python as root
        environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        environment.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    # Signals go to this process; rank 0 ends the job when its input is closed, which also happens
    # when this process ends.
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            _show(process)
            return process.wait()
        except BaseException:
            _end(process)
            raise


def _show(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout and process.stderr
    decoder = codecs.getincrementaldecoder("utf-8")
    with selectors.DefaultSelector() as open_ones:
        pairs: list[tuple[IO[bytes], str]] = [(process.stdout, "stdout"), (process.stderr, "stderr")]
        for pipe, target in pairs:
            open_ones.register(pipe, selectors.EVENT_READ, (target, decoder("replace")))
        while open_ones.get_map():
            for key, _ in open_ones.select():
                target, decode = key.data
                data = os.read(key.fd, 65536)
                if not data:
                    open_ones.unregister(key.fileobj)
                stream = getattr(sys, target)
                stream.write(decode.decode(data, final=not data))
                stream.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)  # mpirun ends its ranks
    try:
        process.wait(_LONGEST_END)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def _result(folder: pathlib.Path, rank: int, ranks: int, status: int) -> Any:
    failures: list[tuple[int, Failure]] = []
    for one in range(ranks):
        file = failure_file(folder, one)
        if file.exists():
            failures.append((one, pickle.loads(file.read_bytes())))
    if failures:
        # Ranks that waited for the failed one fail, too.
        first, failure = min(
            failures, key=lambda one: (isinstance(one[1].error, CommunicationError), one[1].when)
        )
        error = _with_returned(failure.error, folder, ranks)
        raise error from RankTraceback(f"\nrank {first} of {ranks}:\n{failure.traceback}")
    try:
        return pickle.loads(result_file(folder, rank).read_bytes())
    except FileNotFoundError:
        lost = [str(one) for one in range(ranks) if not result_file(folder, one).exists()]
        raise CommunicationError(
            f"d5.launch: rank {', '.join(lost)} of {ranks} ended without a result, "
            f"{_told(status)}; a process that crashed, was killed, or could not be started (try "
            f"`mpirun -np {ranks} true`)"
        ) from None


def _with_returned(error: BaseException, folder: pathlib.Path, ranks: int) -> BaseException:
    """The error of a rank that waited for others, with those that returned meanwhile."""
    returned = [str(one) for one in range(ranks) if returned_file(folder, one).exists()]
    if not returned or not isinstance(error, CommunicationError):
        return error
    return CommunicationError(f"{error}; rank {', '.join(returned)} returned from the function meanwhile")


def _told(status: int) -> str:
    number = -status if status < 0 else status - 128
    if number in set(signal.Signals):
        return f"by {signal.Signals(number).name}"
    return f"with status {status}"


_train = in_words(_d5._train, "d5.train")


@takes_former_keywords
@knows_its_keywords
def train(
    recipe: _d5.Recipe | os.PathLike[str] | str,
    *,
    overrides: Overrides = (),
    distributed: str = "",
    ranks: int = 1,
    **options: Any,
) -> TrainingResult:
    words = {"overrides": assignments("d5.train", overrides), "_texts": texts_of(overrides), "distributed": distributed, **options}
    if ranks == 1 or _d5.world().size == ranks:
        return train_here(recipe, **words)
    return launch_watched(None, train_here, (recipe,), words, ranks)[0]


def train_here(*arguments: Any, **options: Any) -> TrainingResult:
    """`train` on the ranks of this job."""
    return TrainingResult(*_train(*arguments, **options))


train.__doc__ = (_d5._train.__doc__ or "").partition("\n\n")[2]
