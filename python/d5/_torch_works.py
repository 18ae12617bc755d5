# SPDX-License-Identifier: Apache-2.0
# torch's types overload each call with forms that works do not need.
# mypy: disable-error-code="override,no-untyped-call"
"""Works, which torch waits for or turns into futures, while a call of d5 is in progress."""

import datetime
import functools
import threading
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from d5 import _d5
from d5._call_queue import CallQueue


@functools.cache
def calls() -> CallQueue:
    return CallQueue()


class Work(dist.Work):
    def __init__(self, result: list[torch.Tensor]) -> None:
        super().__init__()
        self._result = result
        self._error: BaseException | None = None
        self._asked_by = threading.current_thread()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._listeners: list[Callable[[], object]] = []
        self._future: Any = None

    def ended(self, error: BaseException | None) -> None:
        with self._lock:
            self._error = error
            self._done.set()
        for listener in self._listeners:
            listener()

    def when_ended(self, listener: Callable[[], object]) -> None:
        with self._lock:
            if not self._done.is_set():
                self._listeners.append(listener)
                return
        listener()

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        return self._done.is_set()

    def is_success(self) -> bool:
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        return self._error

    def result(self) -> list[torch.Tensor]:
        return self._result

    def get_future(self) -> Any:
        if self._future is None:
            root: Any = torch.futures.Future()
            # Raising in a callback is the only way to report an error to C++.
            self._future = root.then(self._value)
            complete = functools.partial(root.set_result, None)
            # Work that follows a future, such as PowerSGD's steps, may wait for more works.
            self.when_ended(lambda: calls().run_hook(complete, self._asked_by))
        return self._future

    def _value(self, root: Any) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._result


class ReceiveWork(Work):
    """`source_rank` is known when it is complete."""

    started: _d5.StartedCall | None = None

    def _source_rank(self) -> int:
        assert self.started is not None
        return self.started.received[0]


def joined(works: list[Work], tensors: list[torch.Tensor]) -> Work:
    whole = Work(tensors)
    rest = iter(works)

    def wait_for_next() -> None:
        work = next(rest, None)
        if work is None:
            whole.ended(next((work.exception() for work in works if work.exception()), None))
        else:
            work.when_ended(wait_for_next)

    wait_for_next()
    return whole
