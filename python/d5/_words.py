# SPDX-License-Identifier: Apache-2.0
"""Accepts the program's words in calls of the C++ part, and explains wrong calls.

pybind11 answers a wrong call with all signatures. Such a call is tried again with the program's words
replaced by the module's: `framework=` for `frameworks=`, "a,b" for a list, any mapping for a dict. An
error that remains is reported in one line, with the argument that does not fit or the nearest keyword.
A correct call has no overhead but the wrapper. Methods that operators call for each array, which would
pay a third of their time for it, explain wrong calls in C++ (`explained.hpp`).
"""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Collection, Mapping
from typing import Any, Callable, NoReturn

from d5 import _former
from d5._nearest import with_one_framework_word
from d5._parameters import TextParameter, below_zero, expect_filled, fault, holds_some, misfit, parts, written
from d5._told_signatures import signature_of
from d5.errors import TypeError

_REFUSED = re.compile("incompatible (function|constructor) arguments")
_LIST = re.compile(r"(?:collections\.abc\.)?Sequence\[str\]( \| None)?")


def _is_refusal(error: Exception) -> bool:
    """Whether it is pybind11's error of a wrong call."""
    return not isinstance(error, TypeError) and _REFUSED.search(str(error)) is not None


def _signatures(function: Callable[..., Any]) -> list[list[TextParameter]]:
    """Its signatures, from pybind11's documentation."""
    lines = (function.__doc__ or "").splitlines()
    pattern = re.compile(rf"^(?:\d+\. )?(?:{re.escape(function.__name__)})?\((.*)\) -> ")
    found = [match[1] for match in map(pattern.match, lines) if match and match[1] != "*args, **kwargs"]
    all_of_them = [[TextParameter(part) for part in parts(text)] for text in found]
    return [[one for one in parameters if one.name != "self"] for parameters in all_of_them]


def _in_words_of_the_module(who: str, parameters: list[TextParameter], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The same call with the module's names; None if nothing changes. Raises: TypeError."""
    named = {one.name: one for one in parameters}
    words = with_one_framework_word(who, keywords, named)
    words = _former.present_keywords(words, set(named), 2)
    words = {name: _as_taken(named[name], value) if name in named else value for name, value in words.items()}
    places = [one for one in parameters if not one.is_mark]
    lists = [_as_taken(places[i], value) if i < len(places) else value for i, value in enumerate(arguments)]
    same = all(a is b for a, b in zip(lists, arguments)) and words == keywords
    return None if same else (lists, words)


def _as_taken(parameter: TextParameter, value: Any) -> Any:
    """A text with commas for a list; a list of words for a framework, which is a word; a dict for any
    mapping, such as a d5.Batch."""
    if isinstance(value, str) and _LIST.fullmatch(parameter.kind):
        return value.split(",")
    words = isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value)
    if words and parameter.name == "framework" and parameter.kind == "str":
        return ",".join(value)
    if isinstance(value, Mapping) and not isinstance(value, dict) and parameter.kind.startswith("dict["):
        return dict(value)
    return value


def _fault_of_all(who: str, signatures: list[list[TextParameter]], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """What is wrong with a call that no signature takes. Raises: UnknownOption for an unknown keyword."""
    if len(signatures) == 1:
        found = fault(who, signatures[0], arguments, keywords)
        found = found or below_zero(signatures[0], arguments, keywords)
        if found:
            return found if found.startswith(who) else f"{who}: {found}"
    forms = (f"{who}({written(signature)})" for signature in signatures)
    given = [_kind(value) for value in arguments] + [f"{name}: {_kind(value)}" for name, value in keywords.items()]
    return f"{who} was given ({', '.join(given)}); expected {' or '.join(forms)}"


def explain(made: type, name: str, error: Exception, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> NoReturn:
    """Explains the error of a method without a wrapper (`explain_wrong_calls` in C++), or raises it again."""
    if not _is_refusal(error):
        raise error
    signatures = _signatures(getattr(made, name))
    raise TypeError(_fault_of_all(f"d5.{made.__name__}.{name}", signatures, arguments[1:], keywords))


def _kind(value: object) -> str:
    return type(value).__name__


def in_words(function: Callable[..., Any], who: str, method: bool = False) -> Callable[..., Any]:
    """Wraps `function` of the C++ part under the name `who`; messages leave out a method's `self`."""

    overloads = [] if method else _signatures(function)
    only = overloads[0] if len(overloads) == 1 and any(map(holds_some, overloads[0])) else []

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if only:
            expect_filled(who, only, arguments, keywords)
        try:
            return function(*arguments, **keywords)
        except builtins.TypeError as error:
            if not _is_refusal(error):
                raise
        own, told = (arguments[:1], arguments[1:]) if method else ((), arguments)
        signatures = _signatures(function)
        for parameters in signatures:
            other = _in_words_of_the_module(who, parameters, told, keywords)
            if other is not None:
                expect_filled(who, only, *other)
                try:
                    return function(*own, *other[0], **other[1])
                except builtins.TypeError as error:
                    if not _is_refusal(error):
                        raise
        if len(signatures) == 1:  # the fault is in the rest
            told, keywords = _in_words_of_the_module(who, signatures[0], told, keywords) or (told, keywords)
        raise TypeError(_fault_of_all(who, signatures, tuple(told), keywords)) from None

    if not method:
        several = [TextParameter("*args"), TextParameter("**kwargs")]
        setattr(call, "__signature__", signature_of(overloads[0] if len(overloads) == 1 else several))
    return call


def functions_in_words(module: Any) -> dict[str, Callable[..., Any]]:
    """Wrapped functions of the C++ part that users call. Constructors, methods and assignments that
    refuse some arguments are replaced in place."""
    functions = {}
    for name, one in vars(module).items():
        if name.startswith("_"):
            continue
        if isinstance(one, type):
            _explain_class(one, module._explained())
        elif callable(one):
            functions[name] = in_words(one, f"d5.{name}")
            if re.fullmatch(rf"{name}\(\) -> list\[str\]\s*", one.__doc__ or ""):
                functions[name].__doc__ = f"{one.__doc__}\nNames of all {name.replace('_', ' ')}, as `d5 list` tells them."
    return functions


def _explain_class(made: type, explained: Collection[str]) -> None:
    """Wraps its methods, except those that explain wrong calls on their own."""
    for name, one in list(vars(made).items()):
        if f"{made.__name__}.{name}" in explained:
            continue
        who = f"d5.{made.__name__}" + {"__init__": "", "__getitem__": "[]"}.get(name, f".{name}")
        if isinstance(one, property):
            if one.fset is not None and one.fset.__doc__ and not name.startswith("_"):
                setattr(made, name, property(one.fget, _explained_setter(one.fset, who), None, one.__doc__))
        elif isinstance(one, staticmethod):
            setattr(made, name, staticmethod(in_words(one.__func__, who)))
        elif callable(one) and (name == "__init__" or not name.startswith("_") or _is_index(name, one)):
            setattr(made, name, in_words(one, who, method=True))


def _is_index(name: str, method: Callable[..., Any]) -> bool:
    """Whether it is a subscript that refuses some, as a list's."""
    return name == "__getitem__" and any(one.kind != "typing.Any" for form in _signatures(method) for one in form)


def _explained_setter(setter: Callable[..., Any], who: str) -> Callable[..., Any]:
    """A property's, whose only argument pybind11 leaves without a name."""

    @functools.wraps(setter)
    def assign(self: Any, value: Any) -> None:
        try:
            setter(self, value)
            return
        except builtins.TypeError as error:
            if not _is_refusal(error):
                raise
        kinds = [parameters[-1].kind for parameters in _signatures(setter) if parameters]
        wanted = TextParameter(f"value: {kinds[0] if kinds else 'typing.Any'}")
        raise TypeError(f"{who}: {misfit([wanted], [value], {}) or f'it does not take a {_kind(value)}'}")

    return assign
