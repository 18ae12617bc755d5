# SPDX-License-Identifier: Apache-2.0
"""A process of `d5.launch`: runs a task, and leaves its result in a folder."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from d5.errors import CommunicationError, Error, TypeError

if TYPE_CHECKING:
    from d5._sent_source import Sent

_GRACE = 1.0  # head start, in s, of the rank that failed over ranks that waited for it


class Task(NamedTuple):
    path: list[str]  # search path of modules
    call: Sent


class Failure(NamedTuple):
    error: BaseException
    traceback: str
    when: float


def result_file(folder: pathlib.Path, rank: int) -> pathlib.Path:
    return folder / f"result-{rank}"


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
            threading.Thread(target=_end_with_launcher, daemon=True).start()
        task = pickle.loads((folder / "task").read_bytes())
        sys.path[:] = task.path
        _d5.share_threads()
        function, arguments, keywords = task.call.unpack()
        _write(result_file(folder, rank), _pickled(function(*arguments, **keywords)))
    except BaseException as error:
        _write(failure_file(folder, rank), _failure(error))
        if isinstance(error, CommunicationError):
            time.sleep(_GRACE)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # the launcher ends the others


def _end_with_launcher() -> None:
    """Waits for the end of input, which nobody writes to; it is closed when the launcher has ended."""
    while os.read(0, 4096):
        pass
    os._exit(1)


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
