# SPDX-License-Identifier: Apache-2.0
"""A rank that fails ends the job, as in C++.

A package that started MPI before d5 finalises it while the interpreter ends, before the process has
an exit status, and would wait there for ranks that wait for this one. So failures are handled here.
"""

import contextlib
import functools
import hashlib
import io
import os
import re
import sys
from types import TracebackType
from typing import Any, NoReturn

from d5._d5 import leave_world, world

_code: Any = vars(SystemExit)["code"]


def _leave(code: object) -> object:
    if code is None or code == 0:
        return code
    if not isinstance(code, int):  # the interpreter's own rule
        if _is_first_to_tell(str(code)):
            print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    leave_world(code)
    return code


def _read_code(exit: SystemExit) -> object:
    """A read without a frame is the interpreter's, for an exit that was not caught."""
    code = _code.__get__(exit)
    return _leave(code) if sys._getframe().f_back is None else code


exit_code = property(_read_code, _code.__set__)
"""Replaces SystemExit.code."""


def _exit(code: Any = None, /) -> NoReturn:
    raise SystemExit(code)  # until Python 3.12, sys.exit makes this object only if it is caught


@functools.cache
def watch_for_failures() -> None:
    """Makes uncaught exceptions, and `sys.exit` with a status, end the job from now on."""
    report = sys.excepthook

    def report_and_leave(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            report(kind, error, trace)
        if _is_first_to_tell(text.getvalue()):
            # A hook around this one, such as torch's, would print it after this returns.
            stream = sys.__stderr__ if isinstance(sys.stderr, io.StringIO) else sys.stderr
            if stream:
                stream.write(f"rank {world().rank} of {world().size}:\n{text.getvalue()}")
                stream.flush()
        _leave(1)

    sys.excepthook = report_and_leave
    sys.exit = functools.update_wrapper(_exit, sys.exit)


def _is_first_to_tell(text: str) -> bool:
    """Whether no other rank on this machine has reported it; Open MPI removes the folder when the job ends."""
    folder = os.environ.get("PMIX_SERVER_TMPDIR")
    if not folder:
        return True
    same_on_all = re.sub("0x[0-9a-f]+|rank [0-9]+", "", text)
    name = f"d5-told-{hashlib.sha256(same_on_all.encode()).hexdigest()[:16]}"
    try:
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    except OSError:
        pass
    return True
