# SPDX-License-Identifier: Apache-2.0
"""Parameters of functions as texts, and which argument of a wrong call does not fit its parameter."""

from __future__ import annotations

import builtins
import inspect
import reprlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Iterator

from d5._nearest import expect_known
from d5.errors import ValueError

_LONGEST = 80  # letters of a value in a message


class TextParameter:
    """A parameter, as pybind11 writes it."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        name, _, kind = text.partition(":")
        self.name = name.strip().lstrip("*")
        kind, _, self.default = kind.partition(" = ")
        self.kind, self.needed = kind.strip(), not self.default
        self.takes_all = text.strip().startswith("**")
        self.is_mark = self.text == "/" or (self.text.startswith("*") and not self.takes_all)

    def __str__(self) -> str:
        return f"{self.name}: {plain(self.kind)}" if self.kind else self.name


def plain(kind: str) -> str:
    """A type in the notation of people."""
    kind = re.sub(r"typing\.SupportsFloat( \| typing\.SupportsIndex)?", "float", kind)
    kind = re.sub(r"(typing\.SupportsInt \| )?typing\.SupportsIndex", "int", kind)
    return re.sub(r"\b(d5\._d5|d5|_d5|collections\.abc|typing|os)\.", "", kind)


def parts(text: str, between: str = ",") -> Iterator[str]:
    """The parts between commas, or another letter, that are in no brackets and no text."""
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
        elif letter == between and depth == 0:
            yield text[begin:i]
            begin = i + 1
    if text[begin:].strip():
        yield text[begin:]


def parameters_of(function: Callable[..., Any]) -> list[TextParameter]:
    """Those of a function in Python."""
    found: list[TextParameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not any(earlier.is_mark for earlier in found):
            found.append(TextParameter("*"))
        kind = "typing.Any" if one.annotation is one.empty else one.annotation
        text = f"{one.name}: {kind if isinstance(kind, str) else getattr(kind, '__name__', 'typing.Any')}"
        if one.kind is one.VAR_KEYWORD:
            found.append(TextParameter(f"**{text}"))
        elif one.kind is one.VAR_POSITIONAL:
            found.append(TextParameter("*args"))
        else:
            found.append(TextParameter(text if one.default is one.empty else f"{text} = {one.default!r}"))
    return found


def fault(who: str, parameters: list[TextParameter], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """What a call of `who` lacks, or which argument does not fit; empty if there is nothing. Raises:
    UnknownOption for an unknown keyword."""
    known = [one.name for one in parameters if not one.is_mark and not one.takes_all]
    if not any(one.takes_all for one in parameters):
        for name in keywords:
            expect_known(who, "keyword", name, known)
    needed = {one.name for one in parameters if one.needed}
    lacking = [name for name in known[len(arguments) :] if name in needed and name not in keywords]
    if lacking:
        return f"{who} lacks '{lacking[0]}'; expected {who}({written(parameters)})"
    wrong = misfit(parameters, arguments, keywords)
    return f"{who}: {wrong}" if wrong else ""


def written(parameters: list[TextParameter]) -> str:
    """Parameters as a call's text."""
    return ", ".join(str(one) for one in parameters if not one.is_mark)


def misfit(parameters: list[TextParameter], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """The first argument that its parameter does not take: "network is 3, expected Network". Empty if
    there is none."""
    places: list[TextParameter] = []
    for one in parameters:
        if one.is_mark:
            break
        places.append(one)
    named = {one.name: one for one in parameters if not one.is_mark and not one.takes_all}
    given = [*zip(places, arguments), *((named[name], value) for name, value in keywords.items() if name in named)]
    for parameter, value in given:
        if not takes(parameter, value):
            return f"{parameter.name} is {shown(value)}, expected {plain(parameter.kind)}{_way_out(parameter, value)}"
    takes_more = any(one.is_mark and one.name for one in parameters if one.text != "/")
    positional = [one for one in places if not one.takes_all]
    if len(arguments) > len(positional) and not takes_more:
        return f"{len(arguments)} arguments without a name, expected at most {len(positional)}"
    return ""


#: Lists and dicts that are never empty, though they have no default: nothing would be done.
_FILLED = {"framework", "frameworks", "batch", "batches", "trace_levels", "cases", "files", "run", "trainings", "subjects", "work", "runs"}


def holds_some(one: TextParameter) -> bool:
    """Whether it is a list that holds one or more, as its default does."""
    return one.default not in ("[]", "()") and (one.name in _FILLED or one.default.startswith(("[", "(")))


def expect_filled(who: str, parameters: list[TextParameter], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raises: ValueError for an empty list that holds one or more, in a call without another fault."""
    named = {one.name: one for one in parameters if not one.is_mark and not one.takes_all}
    given = {**dict(zip(named, arguments)), **keywords}
    unknown = given.keys() - named.keys() - {"framework", "frameworks"}
    for one in filter(holds_some, parameters):
        value = given.get(one.name)
        if isinstance(value, (list, tuple, dict)) and not value:
            others = {name: other for name, other in given.items() if name != one.name}
            lacks = any(other.needed and other.name not in given for other in named.values())
            if lacks or misfit(parameters, (), others) or (unknown and not any(other.takes_all for other in parameters)):
                return
            several = next((word for kind, word in _SEVERAL.items() if kind in one.kind), "names")
            raise ValueError(f"{who}: {one.name} is {shown(value)}, expected one or more {several}")


#: What a list of a type holds.
_SEVERAL = {"Callable": "functions by name", "PathLike": "files", "int": "numbers", "SupportsInt": "numbers"}


def below_zero(parameters: list[TextParameter], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """The first negative integer of a call that was refused though all its types fit. Empty if there is none."""
    named = [one for one in parameters if not one.is_mark]
    for one, value in [*zip(named, arguments), *((one, keywords[one.name]) for one in named if one.name in keywords)]:
        if hasattr(value, "__index__") and value < 0:
            return f"{one.name} is {shown(value)}, expected an integer of 0 or more"
    return ""


def takes(parameter: TextParameter, value: object) -> bool:
    """Whether a parameter takes the value: one of its type, or its default None."""
    return fits(parameter.kind, value) or (value is None and parameter.default == "None")


def _way_out(parameter: TextParameter, value: object) -> str:
    """The call that makes what the parameter takes of the value; empty if there is none."""
    kinds = {plain(kind).strip() for kind in parts(parameter.kind, "|")}
    names = {one.__name__ for one in type(value).__mro__}
    calls = [call for kind, name, call in _MADE if kind in kinds and name in names]
    return f"; {calls[0]}" if calls else ""


def shown(value: object) -> str:
    """A value in one short line."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = _LONGEST
    return " ".join(short.repr(value).split())


def fits(kind: str, value: object) -> bool:
    """Whether a type as text takes the value; True for a type that this does not know."""
    kinds = list(parts(kind.strip().strip("'\""), "|"))
    if len(kinds) > 1:
        return any(fits(one, value) for one in kinds)
    base, _, inside = kind.strip().strip("'\"").partition("[")
    name, of = base.rpartition(".")[2].strip(), list(parts(inside.removesuffix("]")))
    if name in _COLLECTIONS:
        return _COLLECTIONS[name](value, of)
    if name in _PLAIN:
        return _PLAIN[name](value)
    import d5

    made = getattr(d5, name, None) or getattr(d5._d5, name, None)
    return isinstance(value, made) if isinstance(made, type) and name not in _TAKE_OTHERS else True


def _is_list(value: object, of: list[str]) -> bool:
    if isinstance(value, (str, bytes, Mapping)) or not (hasattr(value, "__getitem__") and hasattr(value, "__len__")):
        return False
    return not of or all(fits(of[0], one) for one in value)  # type: ignore[attr-defined]


def _is_dict(value: object, of: list[str]) -> bool:
    if not isinstance(value, Mapping):
        return False
    return len(of) < 2 or all(fits(of[0], name) and fits(of[1], one) for name, one in value.items())


#: A parameter's class, the class of what was given, and the way from it.
_MADE = (
    ("Network", "Module", "d5.torch.network(module, example) makes one of a module of torch"),
    ("Tensor", "ndarray", "d5.Tensor(array) is one over the memory of a dense array; of others it is a copy"),
    ("Dataset", "DatasetPair", "it is a pair: give its .train, or its .test"),
    ("Dataset", "DataLoader", "d5.torch.sampler(loader, fields) makes a sampler of one of torch"),
    ("Sampler", "DataLoader", "d5.torch.sampler(loader, fields) makes one of torch's"),
    ("Sampler", "Dataset", "d5.sampler(\"shuffle\", dataset, batch_size=32) makes one"),
    ("GraphExecutor", "Network", "d5.executor(network) makes one"),
    ("Network", "str", "d5.model(name) makes one"),
)
#: Classes in annotations for which others do, too.
_TAKE_OTHERS = {"Measurements", "Event", "Framework", "Operator"}
_COLLECTIONS: dict[str, Callable[[Any, list[str]], bool]] = {
    "Sequence": _is_list,
    "list": _is_list,
    "dict": _is_dict,
    "Mapping": _is_dict,
    "tuple": lambda value, of: isinstance(value, Sequence) and not isinstance(value, str),
    "Callable": lambda value, of: callable(value),
    "PathLike": lambda value, of: hasattr(value, "__fspath__"),
}
_PLAIN: dict[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "NDArray": lambda value: hasattr(value, "__dlpack__"),
    "str": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, builtins.bytes),
    "bool": lambda value: value is None or isinstance(value, bool) or type(value).__module__ == "numpy",
    "int": lambda value: hasattr(value, "__index__"),
    "SupportsInt": lambda value: hasattr(value, "__index__"),
    "SupportsIndex": lambda value: hasattr(value, "__index__"),
    "float": lambda value: hasattr(value, "__float__") or hasattr(value, "__index__"),
    "SupportsFloat": lambda value: hasattr(value, "__float__") or hasattr(value, "__index__"),
}
