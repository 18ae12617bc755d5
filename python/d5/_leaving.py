# SPDX-License-Identifier: Apache-2.0
"""A rank that fails ends the job, as in C++.

A package that started MPI before d5 finalises it while the interpreter ends, before the process has
an exit status, and would wait there for ranks that wait for this one. So what fails is seen here.
"""

import functools
import sys
import threading
from types import TracebackType
from typing import Any, NoReturn

from d5._d5 import leave_world


class _Exit(SystemExit):
    """What `sys.exit` raises. Who asks for `code` without a frame is the interpreter, when nobody
    caught the exit."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "code" and sys._getframe().f_back is None:
            return _leave(value)
        return value


def _leave(code: object) -> object:
    if code is None or code == 0:
        return code
    if not isinstance(code, int):  # the interpreter's own rule
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    leave_world(code)
    return code


def _exit(code: Any = None, /) -> NoReturn:
    in_main = threading.current_thread() is threading.main_thread()  # others end alone
    raise _Exit(code) if in_main else SystemExit(code)


@functools.cache
def watch_for_failures() -> None:
    """From now on exceptions that nobody catches, and `sys.exit` with a status, end the job."""
    report = sys.excepthook

    def report_and_leave(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        report(kind, error, trace)
        _leave(1)

    sys.excepthook = report_and_leave
    sys.exit = functools.update_wrapper(_exit, sys.exit)
