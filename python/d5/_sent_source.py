# SPDX-License-Identifier: Apache-2.0
"""Sends what another interpreter needs of this one's main module, as source.

Functions and classes of modules are sent by name. Those of `__main__`, a script or a notebook, are
sent as source, with the imports, functions, classes and values that they name, to the other
interpreter's main module. So a script needs no `if __name__ == "__main__"`, and the rest of it does
not run again.
"""

from __future__ import annotations

import __future__
import ast
import builtins
import importlib
import inspect
import io
import linecache
import os
import pickle
import symtable
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Union

from d5.errors import Error, TypeError, Unsupported

_MAIN = "__main__"


class _Module(NamedTuple):
    name: str  # in the main module
    module: str

    def run(self, space: dict[str, Any]) -> None:
        space[self.name] = importlib.import_module(self.module)


class _Value(NamedTuple):
    name: str
    pickled: bytes

    def run(self, space: dict[str, Any]) -> None:
        space[self.name] = pickle.loads(self.pickled)


class _Source(NamedTuple):
    text: str
    file: str
    line: int  # first line in the file
    cell: str  # text of a notebook's cell, which has no file
    flags: int

    def run(self, space: dict[str, Any]) -> None:
        if self.cell:  # for tracebacks, and for sending it on
            lines = self.cell.splitlines(keepends=True)
            linecache.cache[self.file] = (len(self.cell), None, lines, self.file)
        text = "\n" * (self.line - 1) + self.text
        exec(compile(text, self.file, "exec", self.flags, dont_inherit=True), space)


_Step = Union[_Module, _Value, _Source]


class Sent(NamedTuple):
    """Steps for the main module, in order, and a pickle that names their results."""

    steps: list[_Step]
    pickled: bytes

    def unpack(self) -> Any:
        """Call in the other interpreter."""
        for step in self.steps:
            step.run(sys.modules[_MAIN].__dict__)
        return pickle.loads(self.pickled)


def send(who: str, thing: Any, registered: Iterable[Any] = ()) -> Sent:
    """Also sends what of `registered`, parts of the main module, can be sent: they register themselves there.

    Throws: TypeError for objects that cannot be pickled, Unsupported if a source is not known."""
    parts = _Parts(who)
    for part in registered:
        before = parts.steps.copy(), parts.seen.copy()
        try:
            made = _definition(part)
            if made is not None:
                parts.take(made)
        except Error:  # its use there fails by its name
            parts.steps, parts.seen = before
    pickled = parts.pickle(thing, "what it is given")
    return Sent(parts.steps, pickled)


def _definition(thing: Any) -> types.FunctionType | type | None:
    """The `def` or `class` of the main module that made it, without decorators around it."""
    made = inspect.unwrap(thing) if callable(thing) and not isinstance(thing, type) else thing
    if isinstance(made, (types.FunctionType, type)) and made.__module__ == _MAIN:
        return made
    return None


class _Parts:
    def __init__(self, who: str) -> None:
        self.who = who
        self.steps: list[_Step] = []
        self.seen: set[str] = set()

    def pickle(self, thing: Any, what: str) -> bytes:
        """Also takes the definitions of the main module that it names along."""
        buffer = io.BytesIO()
        try:
            _Pickler(self, buffer).dump(thing)
        except Error:
            raise
        except Exception as error:  # each class refuses in its own words
            raise TypeError(
                f"{self.who}: {what} cannot be sent to other processes: {error}; make it within the "
                "function, or in a module"
            ) from error
        return buffer.getvalue()

    def take(self, made: types.FunctionType | type) -> None:
        name = made.__qualname__
        if name in self.seen:
            return
        if not name.isidentifier():
            raise Unsupported(
                f"{self.who}: '{name}' of the main module cannot be sent; define it by def or class "
                "at the top level"
            )
        self.seen.add(name)
        source = _source_of(self.who, made)
        space = sys.modules[_MAIN].__dict__
        for used in _globals_of(source.text):
            if used in space and used not in self.seen:
                self.take_named(used, space[used], name)
        self.steps.append(source)

    def take_named(self, name: str, value: Any, by: str) -> None:
        made = _definition(value)
        if made is not None and made.__qualname__ == name:
            self.take(made)
            return
        self.seen.add(name)
        if isinstance(value, types.ModuleType):
            self.steps.append(_Module(name, value.__name__))
        else:
            self.steps.append(_Value(name, self.pickle(value, f"'{name}', which '{by}' uses,")))


class _Pickler(pickle.Pickler):
    def __init__(self, parts: _Parts, buffer: io.BytesIO) -> None:
        super().__init__(buffer, protocol=pickle.HIGHEST_PROTOCOL)
        self.parts = parts

    def reducer_override(self, thing: Any) -> Any:
        made = _definition(thing)
        if made is not None:
            self.parts.take(made)
        return NotImplemented  # by name


def _source_of(who: str, made: types.FunctionType | type) -> _Source:
    """Its source, with decorators."""
    try:
        file, lines, first = _class_lines(made) if isinstance(made, type) else _function_lines(made)
    except (OSError, builtins.TypeError, SyntaxError) as error:
        raise Unsupported(
            f"{who}: the source of '{made.__qualname__}' is not known ({error}); put it into a module, "
            "a script, or a notebook's cell"
        ) from error
    cell = "" if os.path.exists(file) else "".join(linecache.getlines(file))
    later = sys.modules[_MAIN].__dict__.get("annotations") is __future__.annotations
    flags = __future__.annotations.compiler_flag if later else 0
    return _Source(textwrap.dedent("".join(lines)), file, first, cell, flags)


def _function_lines(made: types.FunctionType) -> tuple[str, list[str], int]:
    return made.__code__.co_filename, *inspect.getsourcelines(made)


def _class_lines(made: type) -> tuple[str, list[str], int]:
    """Finds it by one of its methods: a notebook's classes do not know their file."""
    for method in vars(made).values():
        if not isinstance(method, types.FunctionType):
            continue
        file = method.__code__.co_filename
        lines = linecache.getlines(file)
        for node in ast.walk(ast.parse("".join(lines))):
            if isinstance(node, ast.ClassDef) and node.name == made.__name__:
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                last = node.end_lineno or first
                if first <= method.__code__.co_firstlineno <= last:
                    return file, lines[first - 1 : last], first
    return inspect.getsourcefile(made) or "", *inspect.getsourcelines(made)


def _globals_of(text: str) -> Iterator[str]:
    """Names that it looks up outside itself: in bodies, decorators, annotations, defaults."""

    def within(table: symtable.SymbolTable) -> Iterator[str]:
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                yield symbol.get_name()
        for child in table.get_children():
            yield from within(child)

    yield from dict.fromkeys(within(symtable.symtable(text, "<sent>", "exec")))
