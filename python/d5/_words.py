# SPDX-License-Identifier: Apache-2.0
"""Accepts the program's words in calls of the C++ part, and explains wrong calls.

pybind11 answers a wrong call with all signatures. Such a call is tried again with the program's words
replaced by the module's: `framework=` for `frameworks=`, "a,b" for a list. An error that remains is
reported in one line, with the nearest keyword. A correct call has no overhead but the wrapper.
"""

from __future__ import annotations

import builtins
import functools
import re
from typing import Any, Callable, Iterator

from d5 import _former
from d5._nearest import expect_known
from d5._told_signatures import signature_of
from d5.errors import TypeError

_REFUSED = re.compile("incompatible (function|constructor) arguments")
_LIST = re.compile(r"(?:collections\.abc\.)?Sequence\[str\]")


class TextParameter:
    """A parameter, as pybind11 writes it."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        name, _, kind = text.partition(":")
        self.name = name.strip().lstrip("*")
        kind, _, self.default = kind.partition(" = ")
        self.kind, self.needed = kind.strip(), not self.default
        self.takes_all = text.strip().startswith("**")
        self.is_mark = text.strip() in ("*", "/", "*args")

    def __str__(self) -> str:
        return f"{self.name}: {_plain(self.kind)}" if self.kind else self.name


def _plain(kind: str) -> str:
    """A type in the notation of people."""
    kind = re.sub(r"typing\.(SupportsFloat \| typing\.)?SupportsIndex", "int", kind)
    kind = re.sub(r"typing\.SupportsFloat( \| typing\.SupportsIndex)?", "float", kind)
    return re.sub(r"\b(d5\._d5|collections\.abc|typing)\.", "", kind)


def _parts(text: str) -> Iterator[str]:
    """The parts between commas that are in no brackets and no text."""
    depth, begin, quote = 0, 0, ""
    for i, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[({":
            depth += 1
        elif letter in "])}":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[begin:i]
            begin = i + 1
    if text[begin:].strip():
        yield text[begin:]


def _signatures(function: Callable[..., Any]) -> list[list[TextParameter]]:
    """Its signatures, from pybind11's documentation."""
    lines = (function.__doc__ or "").splitlines()
    pattern = re.compile(rf"^(?:\d+\. )?{re.escape(function.__name__)}\((.*)\) -> ")
    found = [match[1] for match in map(pattern.match, lines) if match]
    all_of_them = [[TextParameter(part) for part in _parts(text)] for text in found]
    return [[one for one in parameters if one.name != "self"] for parameters in all_of_them]


def _in_words_of_the_module(parameters: list[TextParameter], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The same call with the module's names; None if nothing changes."""
    named = {one.name: one for one in parameters}
    words = dict(keywords)
    for given, meant in (("framework", "frameworks"), ("frameworks", "framework")):
        if given in words and given not in named and meant in named:
            words[meant] = words.pop(given)
    words = _former.present_keywords(words, set(named), 2)
    words = {name: _as_taken(named[name], value) if name in named else value for name, value in words.items()}
    places = [one for one in parameters if not one.is_mark]
    lists = [_as_taken(places[i], value) if i < len(places) else value for i, value in enumerate(arguments)]
    same = all(a is b for a, b in zip(lists, arguments)) and words == keywords
    return None if same else (lists, words)


def _as_taken(parameter: TextParameter, value: Any) -> Any:
    """A text with commas for a list; a list of words for a framework, which is a word."""
    if isinstance(value, str) and _LIST.fullmatch(parameter.kind):
        return value.split(",")
    words = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
    if words and parameter.name == "framework" and parameter.kind == "str":
        return ",".join(value)
    return value


def _fault(who: str, parameters: list[TextParameter], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Raises: UnknownOption for an unknown keyword."""
    known = [one.name for one in parameters if not one.is_mark and not one.takes_all]
    expected = f"expected {who}({', '.join(map(str, (one for one in parameters if not one.is_mark)))})"
    if not any(one.takes_all for one in parameters):
        for name in keywords:
            expect_known(who, "keyword", name, known)
    positional = known[: len(arguments)]
    lacking = [one.name for one in parameters if one.needed and one.name in known]
    lacking = [name for name in lacking if name not in positional and name not in keywords]
    if lacking:
        return f"{who} lacks '{lacking[0]}'; {expected}"
    given = [_kind(value) for value in arguments] + [f"{name}: {_kind(value)}" for name, value in keywords.items()]
    return f"{who} was given ({', '.join(given)}); {expected}"


def _kind(value: object) -> str:
    return type(value).__name__


def in_words(function: Callable[..., Any], who: str, method: bool = False) -> Callable[..., Any]:
    """Wraps `function` of the C++ part under the name `who`; messages leave out a method's `self`."""

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except builtins.TypeError as error:
            if isinstance(error, TypeError) or not _REFUSED.search(str(error)):
                raise
            refused = error
        own, told = (arguments[:1], arguments[1:]) if method else ((), arguments)
        signatures = _signatures(function)
        for parameters in signatures:
            other = _in_words_of_the_module(parameters, told, keywords)
            if other is not None:
                try:
                    return function(*own, *other[0], **other[1])
                except builtins.TypeError as error:
                    if isinstance(error, TypeError) or not _REFUSED.search(str(error)):
                        raise
        if len(signatures) != 1:
            raise refused
        raise TypeError(_fault(who, signatures[0], told, keywords)) from None

    if not method:
        overloads = _signatures(function)
        several = [TextParameter("*args"), TextParameter("**kwargs")]
        setattr(call, "__signature__", signature_of(overloads[0] if len(overloads) == 1 else several))
    return call


def functions_in_words(module: Any) -> dict[str, Callable[..., Any]]:
    """Wrapped functions of the C++ part that users call. Constructors and methods with options are
    replaced in place."""
    functions = {}
    for name, one in vars(module).items():
        if name.startswith("_"):
            continue
        if isinstance(one, type):
            _explain_class(one)
        elif callable(one):
            functions[name] = in_words(one, f"d5.{name}")
            if re.fullmatch(rf"{name}\(\) -> list\[str\]\s*", one.__doc__ or ""):
                functions[name].__doc__ = f"{one.__doc__}\nNames of all {name.replace('_', ' ')}, as `d5 list` tells them."
    return functions


def _explain_class(made: type) -> None:
    for name, one in list(vars(made).items()):
        text = getattr(one, "__doc__", None) or ""
        has_options = ", *, " in text.split("\n", 1)[0]
        if callable(one) and has_options and (name == "__init__" or not name.startswith("_")):
            who = f"d5.{made.__name__}" + ("" if name == "__init__" else f".{name}")
            setattr(made, name, in_words(one, who, method=True))
