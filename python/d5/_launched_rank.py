# SPDX-License-Identifier: Apache-2.0
"""A process of `d5.launch`: runs a task, and leaves its result in a folder."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pathlib
import pickle
import shutil
import sys
import threading
import time
import traceback
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from d5.errors import CommunicationError, Error, TypeError

if TYPE_CHECKING:
    from d5._d5 import Communicator
    from d5._sent_source import Sent

_GRACE = 1.0  # head start, in s, of the rank that failed over ranks that waited for it
_LONGEST_LOCK = 5.0  # seconds that an ended launcher may hold its lock


class Watch(NamedTuple):
    """How calls between the ranks are watched."""

    timeout: float  # longest wait in s; 0: any, with reports
    call_order: bool


class Task(NamedTuple):
    path: list[str]  # search path of modules
    watch: Watch | None
    call: Sent


class Failure(NamedTuple):
    error: BaseException
    traceback: str
    when: float


def lock_file(folder: pathlib.Path) -> pathlib.Path:
    """Locked by the launcher as long as it lives."""
    return folder / "lock"


def result_file(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / f"result-{rank}"


def returned_file(folder: pathlib.Path, rank: int) -> pathlib.Path:
    """Is there from the function's end on."""
    return folder / f"returned-{rank}"


def failure_file(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / f"failure-{rank}"


def run(name: str) -> None:
    from d5 import _d5

    folder = pathlib.Path(name)
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)  # whole lines
    try:
        if rank == 0:
            threading.Thread(target=_end_with_launcher, args=(folder,), daemon=True).start()
        task = pickle.loads((folder / "task").read_bytes())
        sys.path[:] = task.path
        _d5.share_threads()
        function, arguments, keywords = task.call.unpack()
        compared = _watched_world(task.watch) if task.watch else None
        result = _pickled(function(*arguments, **keywords))
        returned_file(folder, rank).touch()
        if compared:
            _d5._end_calls(compared)  # which differs from every call that other ranks wait in
        _write(result_file(folder, rank), result)
    except BaseException as error:
        _write(failure_file(folder, rank), _failure(error))
        if isinstance(error, CommunicationError):
            time.sleep(_GRACE)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # the launcher ends the others


def _watched_world(watch: Watch) -> Communicator | None:
    """Decorates `d5.world()`; returns what compares the order of its calls, whose waits have no end."""
    from d5 import _d5

    ranks = _d5.world()
    if ranks.size == 1:
        return None
    compared = _d5.with_call_order(ranks) if watch.call_order else None
    _d5.set_world(_d5.with_timeout(compared or ranks, watch.timeout))
    return compared


def _end_with_launcher(folder: pathlib.Path) -> None:
    """Waits for the end of input, which nobody writes to; it is closed when the launcher has ended, or
    when mpirun ends the job. A launcher that was killed holds its lock no more, and left the folder."""
    while os.read(0, 4096):
        pass
    with contextlib.suppress(OSError), lock_file(folder).open("rb") as lock:
        _take(lock)
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _take(lock: IO[bytes]) -> None:
    """Locks the file of an ended launcher, whose input may close before its lock opens.

    Raises: BlockingIOError if the launcher lives.
    """
    end = time.monotonic() + _LONGEST_LOCK
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
        time.sleep(0.01)


def _pickled(result: Any) -> bytes:
    try:
        return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # each class refuses in its own words
        raise TypeError(f"d5.launch: what the function returns cannot be sent back: {error}") from error


def _failure(error: BaseException) -> bytes:
    own = error.__traceback__ and error.__traceback__.tb_next  # without this file's frame
    text = "".join(traceback.format_exception(type(error), error, own)).rstrip()
    when = time.time()
    if not isinstance(error, Exception):  # an exit ends that rank, not the launcher
        error = Error(f"{type(error).__name__}: {error}")
    try:
        pickled = pickle.dumps(Failure(error, text, when))
        pickle.loads(pickled)  # some classes can be pickled but not unpickled
        return pickled
    except Exception:
        return pickle.dumps(Failure(Error(f"{type(error).__name__}: {error}"), text, when))


def _write(file: pathlib.Path, data: bytes) -> None:
    beside = file.with_suffix(".part")
    beside.write_bytes(data)
    beside.rename(file)
