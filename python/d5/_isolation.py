# SPDX-License-Identifier: Apache-2.0
"""Runs cases, and the networks of a reduction, in a process of their own.

A fork of this interpreter would hang if another thread held a lock. So a new interpreter registers
the same operators as this one, and the case runs in a fork of that interpreter, which has no other
threads.
"""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import re
import subprocess
import sys
from typing import Any, Callable, NamedTuple, ParamSpec, TypeVar, cast

from d5 import _d5
from d5._parameters import fits
from d5._words import in_words
from d5.errors import Error, Unsupported, ValueError

P = ParamSpec("P")
R = TypeVar("R")

#: Calls of d5._d5 that registered operators and plug-ins, in order.
_extensions: list[tuple[str, tuple[str, ...]]] = []
#: Module whose import registers the operator or framework of that name; None: no import does.
_modules: dict[str, str | None] = {}


def remember_extension(function: str, *arguments: str) -> None:
    if (function, arguments) not in _extensions:
        _extensions.append((function, arguments))


def remember_class(name: str, made: type | None) -> None:
    """Notes the class of an operator or a framework; None: no import registers it."""
    importable = made and "<locals>" not in made.__qualname__ and made.__module__ != "__main__"
    _modules[name] = made.__module__ if made and importable else None


class _Task(NamedTuple):
    modules: list[str]
    extensions: list[tuple[str, tuple[str, ...]]]
    threads: int
    function: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def run(self) -> Any:
        for _, (file, *_) in self.extensions:
            if file.endswith(".py"):  # the file may be one of the modules
                _d5.load_extension(file)
                _extensions.append(("load_extension", (file,)))
        for module in self.modules:
            importlib.import_module(module)
        for function, arguments in self.extensions:
            if (function, arguments) not in _extensions:  # otherwise a module made the call
                getattr(_d5, function)(*arguments)
        _d5.set_threads(self.threads)
        return in_words(getattr(_d5, self.function), f"d5.{self.function}")(*self.arguments, **self.keywords)


def isolable(call: Callable[P, R]) -> Callable[P, R]:
    """`call`, whose first argument is a case or a model; with `isolate` it runs in another process."""

    @functools.wraps(call)
    def run(*arguments: P.args, **keywords: P.kwargs) -> R:
        seconds: Any = keywords.get("isolate", 0)
        if not fits("float", seconds) or not seconds:
            return call(*arguments, **keywords)
        if not seconds > 0:
            raise ValueError(f"d5.{call.__name__}: isolate is {seconds}, expected seconds above 0")
        task = _Task(
            _modules_of([*arguments, *keywords.values()]), _extensions, _d5.threads(), call.__name__, arguments, keywords
        )
        return cast(R, _run_elsewhere(task))

    return run


def _modules_of(arguments: list[Any]) -> list[str]:
    """Modules that register what the case and the frameworks in the arguments name."""
    modules = []
    for words in arguments:
        for word in words if isinstance(words, (list, tuple)) else [words]:
            whole = str(word).strip().split(" ")[0].split("@")[0]
            for name in re.split("[+:]", whole):  # "mine:executor+reference"
                if name not in _modules:
                    continue
                module = _modules[name]
                if module is None:
                    raise Unsupported(
                        f"'{name}' cannot run in a process of its own: it is made in this one, by its "
                        "main module, a notebook or a function; put it at the top of a module that "
                        "can be imported"
                    )
                modules.append(module)
    return modules


def _run_elsewhere(task: _Task) -> Any:
    if not sys.executable:
        raise Unsupported("no process of its own: this interpreter does not know its program")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.run(
        [sys.executable, "-c", "from d5._isolation import answer; answer()"],
        input=pickle.dumps(task),
        stdout=subprocess.PIPE,
        env=environment,
    )
    if process.returncode != 0:
        raise Error(
            f"the process for '{task.function}' ended with status {process.returncode} before the "
            "case ran"
        )
    result = pickle.loads(process.stdout)
    if isinstance(result, BaseException):
        raise result
    return result


def answer() -> None:
    """In the new interpreter: reads a task, runs it and writes the result."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as result:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # separates operators' output from the answer
        task = pickle.load(sys.stdin.buffer)
        try:
            pickle.dump(task.run(), result)
        except BaseException as error:
            pickle.dump(error, result)


bench = isolable(in_words(_d5.bench, "d5.bench"))
check_operator = isolable(in_words(_d5.check_operator, "d5.check_operator"))
reduce = isolable(in_words(_d5.reduce, "d5.reduce"))
test_forward = isolable(in_words(_d5.test_forward, "d5.test_forward"))
test_gradient = isolable(in_words(_d5.test_gradient, "d5.test_gradient"))
