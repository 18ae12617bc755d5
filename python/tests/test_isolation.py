# SPDX-License-Identifier: Apache-2.0
"""Operators that crash or hang, in a process of their own."""

import os
import pathlib
import threading

import d5
import pytest

FAULTY = pathlib.Path(os.environ["D5_SOURCE_DIR"]) / "tests/apps/faulty_operators.cpp"

MODULE = '''
import os, signal
import d5
import numpy as np

class Copy(d5.Operator):
    def forward(self, context):
        print("this is no answer")
        context.output(0).numpy()[...] = context.input(0).numpy()
    def backward(self, context):
        context.grad_input(0).numpy()[...] = context.grad_output(0).numpy()

@d5.operator("Right", domain="faulty_python")
class Right(Copy): ...

@d5.operator("Crash", domain="faulty_python")
class Crash(Copy):
    def forward(self, context):
        os.kill(os.getpid(), signal.SIGSEGV)

@d5.operator("Hang", domain="faulty_python")
class Hang(Copy):
    def backward(self, context):
        while True:
            pass

@d5.operator("Raise", domain="faulty_python")
class Raise(Copy):
    def forward(self, context):
        raise RuntimeError("my fault")
'''


@pytest.fixture(scope="module", autouse=True)
def operators(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faulty")
    (folder / "faulty_python.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.syspath_prepend(folder)
        __import__("faulty_python")
        d5.op.compile(FAULTY)
        yield


def of_forward(case, seconds=60):
    (row,) = d5.test_forward(case, "reference", isolate=seconds)
    assert row.subject == case
    return row.status, row.reason


def test_a_crash_is_a_failed_row():
    for operator in ("faulty.Crash", "faulty_python.Crash"):
        status, reason = of_forward(f"{operator} 2")
        assert status == "failed" and "SIGSEGV" in reason


def test_an_endless_loop_is_a_failed_row():
    status, reason = of_forward("faulty.Hang 2", seconds=0.5)
    assert status == "failed" and "no answer within 0.5 s" in reason
    (row,) = d5.test_gradient("faulty_python.Hang 2", isolate=0.5)
    assert row.status == "failed" and "no answer within 0.5 s" in row.reason


def test_an_exception_is_a_failed_row():
    status, reason = of_forward("faulty_python.Raise 2")
    assert status == "failed" and "my fault" in reason


def test_what_is_right_passes_beside_threads_of_python():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert of_forward("faulty_python.Right {1,2} -> {1,2}")[0] == "passed"
        (row,) = d5.test_gradient("faulty.Right 2", isolate=60)
        assert row.status == "passed", row.reason
        rows = d5.bench("faulty_python.Right 2", samples=3, isolate=60)
        assert {row.conditions["pass"] for row in rows} == {"forward", "backward"}
    finally:
        done.set()
        thread.join()


def test_what_only_this_process_has_is_refused():
    @d5.operator("Local", domain="faulty_python")
    class Local(d5.Operator):
        def forward(self, context):
            os.abort()

    with pytest.raises(d5.Unsupported, match="faulty_python.Local.*module"):
        d5.test_forward("faulty_python.Local 2", "reference", isolate=60)


def test_errors_come_back_as_they_are():
    with pytest.raises(d5.Error) as here:
        d5.test_forward("faulty.Right flot32:2", "reference")
    with pytest.raises(type(here.value)) as there:
        d5.test_forward("faulty.Right flot32:2", "reference", isolate=60)
    assert str(there.value) == str(here.value)
    with pytest.raises(d5.ValueError, match="above 0"):
        d5.test_forward("faulty.Right 2", "reference", isolate=-1)
