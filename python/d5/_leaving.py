# SPDX-License-Identifier: Apache-2.0
"""A rank that fails ends the job, as in C++.

A package that started MPI before d5 finalises it while the interpreter ends, before the process has
an exit status, and would wait there for ranks that wait for this one. So what fails is seen here.
"""

import functools
import io
import sys
from types import TracebackType
from typing import Any, NoReturn

from d5._d5 import leave_world

_code: Any = vars(SystemExit)["code"]


def _leave(code: object) -> object:
    if code is None or code == 0:
        return code
    if not isinstance(code, int):  # the interpreter's own rule
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    leave_world(code)
    return code


def _read_code(exit: SystemExit) -> object:
    """Who reads it without a frame is the interpreter, when nobody caught the exit."""
    code = _code.__get__(exit)
    return _leave(code) if sys._getframe().f_back is None else code


exit_code = property(_read_code, _code.__set__)
"""What takes the place of SystemExit.code."""


def _exit(code: Any = None, /) -> NoReturn:
    raise SystemExit(code)  # until Python 3.12, sys.exit makes this object only for who catches it


@functools.cache
def watch_for_failures() -> None:
    """From now on exceptions that nobody catches end the job, as does `sys.exit` with a status."""
    report = sys.excepthook

    def report_and_leave(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        report(kind, error, trace)
        if isinstance(sys.stderr, io.StringIO) and sys.__stderr__:
            # Whose hook is around this one, such as torch's, would print it when this returns.
            sys.__stderr__.write(sys.stderr.getvalue())
        _leave(1)

    sys.excepthook = report_and_leave
    sys.exit = functools.update_wrapper(_exit, sys.exit)
