# SPDX-License-Identifier: Apache-2.0
"""Calls everything public in d5 wrongly, parameter by parameter, and says what came of it."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy as np

import d5
from d5._parameters import TextParameter, fits, parameters_of, parts, takes

MODULES = ("d5", "d5.op", "d5.logs", "d5.torch")


#: Arguments by name, for calls that look at them before others.
MEANT = {"kind": "all-reduce", "slo": "p99<=50ms", "objective": "p99<=50ms", "dataset": "mnist", "what": "efficientnet-lite0"}


class Stranger:
    """No parameter takes an object of this class, unless it takes everything."""

    def __repr__(self) -> str:
        return "<stranger>"


class Callable_(NamedTuple):
    who: str
    call: Callable[..., Any]
    parameters: list[TextParameter]
    forms: list[list[TextParameter]]  # all signatures
    own: tuple[Any, ...]  # arguments before them: a method's object


class Call(NamedTuple):
    who: str
    fault: str
    outcome: str  # "typed", "raw", "silent", "unnamed"
    told: str


def objects() -> list[Any]:
    """One of each class whose objects are made in an instant."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="d5-walk-"))
    network = d5.model("lenet", with_loss=True)
    executor = d5.executor(network)
    optimizer = d5.optimizer("sgd", executor)
    data = d5.tensor_dataset({"image": np.zeros((2, 1, 28, 28), np.float32), "label": np.zeros(2, np.int64)})
    sampler = d5.sampler("ordered", data, batch_size=1)
    return [
        network, executor, optimizer, data, sampler, sampler.next(), d5.Trainer(optimizer, sampler), d5.StepGraph(optimizer),
        d5.Tensor(np.zeros(2, np.float32)), d5.Measurement(), d5.recipe("mnist-lenet-quick"), d5.world(), d5.MemoryWindow(d5.world(), 8),
        d5.Database(folder / "results.db"), d5.ArtefactStore(folder / "store"), d5.OperationGraph("one"), d5.OverlapRecorder(),
        d5.Plot({"a": [(1, 2)]}), d5.topology("ring", 4), d5.cluster_description("ethernet-10g"), d5.schedule("constant"),
        d5.profile_from_cost("lenet", batch=8, step_seconds=0.01), d5.training_metric("loss"), d5.facts_table(network),
        d5.transform("dead-code"), d5.AllReduce("ring"), d5.TrainingSession("mnist-lenet-quick"),
    ]  # fmt: skip


def subjects(known: list[Any]) -> Iterator[Callable_]:
    """Functions, constructors and methods, once for each signature."""
    of_class = {type(one): one for one in known}
    for module in MODULES:
        made = importlib.import_module(module)
        for name in sorted(getattr(made, "__all__", dir(made))):
            one = getattr(made, name)
            if name.startswith("_") or inspect.ismodule(one) or not callable(one):
                continue
            if isinstance(one, type):
                yield from _of_class(f"{module}.{name}", one, of_class)
            elif getattr(one, "__module__", module).startswith("d5"):
                yield from _of_function(f"{module}.{name}", one)


def _of_class(who: str, made: type, of_class: dict[type, Any]) -> Iterator[Callable_]:
    if issubclass(made, BaseException) or not made.__module__.startswith("d5"):
        return
    for name, one in vars(made).items():
        if isinstance(one, staticmethod) and not name.startswith("_"):
            yield from _of_function(f"{who}.{name}", getattr(made, name))
        elif callable(one) and not name.startswith("_") and _is_of_cpp(made):
            for parameters in _signatures(one):
                yield Callable_(f"{who}.{name}", one, parameters, _signatures(one), (of_class.get(made),))
    if "__init__" in vars(made) and _is_of_cpp(made):
        for parameters in _signatures(made.__init__):
            yield Callable_(who, made, parameters, _signatures(made.__init__), ())


def _is_of_cpp(made: type) -> bool:
    return made.__module__ == "d5._d5"


def _of_function(who: str, function: Callable[..., Any]) -> Iterator[Callable_]:
    forms = _signatures(function) or [parameters_of(function)]
    for parameters in forms:
        yield Callable_(who, function, parameters, forms, ())


def _signatures(function: Callable[..., Any]) -> list[list[TextParameter]]:
    """As pybind11 writes them into the docstring."""
    lines = (inspect.getdoc(function) or "").splitlines()
    pattern = re.compile(rf"^(?:\d+\. )?{re.escape(getattr(function, '__name__', ''))}\((.*)\) -> ")
    found = [match[1] for match in map(pattern.match, lines) if match and match[1] != "*args, **kwargs"]
    return [[one for part in parts(text) if (one := TextParameter(part)).name != "self"] for text in found]


def fitting(parameter: TextParameter, known: list[Any]) -> Any:
    """A value of the parameter's type, if there is one; else one that the call refuses as well."""
    if parameter.name in MEANT and fits(parameter.kind, MEANT[parameter.name]):
        return MEANT[parameter.name]
    plain: tuple[Any, ...] = ("?", 1, 1.0, True, None, [], {}, Stranger)
    return next((value for value in (*plain, *known) if fits(parameter.kind, value)), Stranger())


def walk() -> list[Call]:
    known = objects()
    return [call for subject in subjects(known) for call in _calls(subject, known)]


def _calls(subject: Callable_, known: list[Any]) -> Iterator[Call]:
    named = [one for one in subject.parameters if not one.is_mark and not one.takes_all]
    needed = [one for one in named if one.needed]
    for parameter in named:
        if parameter.kind == "typing.Any":
            continue
        for fault, value in (("None", None), ("wrong type", Stranger())):
            if not takes(parameter, value):
                yield _called(subject, f"{parameter.name}={fault}", _arguments(subject, parameter, value, known), parameter.name)
    if not any(one.takes_all for one in subject.parameters):
        given = {one.name: fitting(one, known) for one in needed if not _is_positional(subject, one)}
        places = [fitting(one, known) for one in needed if _is_positional(subject, one)]
        yield _called(subject, "unknown keyword", (places, {**given, "no_such_keyword": 1}), "no_such_keyword")
    if needed and not _has_empty_form(subject):
        yield _called(subject, "nothing given", ([], {}), needed[0].name)


def _has_empty_form(subject: Callable_) -> bool:
    """Whether another signature needs nothing."""
    return any(not any(one.needed and not one.is_mark and not one.takes_all for one in form) for form in subject.forms)


def _is_positional(subject: Callable_, parameter: TextParameter) -> bool:
    """Whether it is given by its place alone."""
    texts = [one.text for one in subject.parameters]
    return "/" in texts and subject.parameters.index(parameter) < texts.index("/") or re.fullmatch(r"arg\d+", parameter.name) is not None


def _arguments(subject: Callable_, wrong: TextParameter, value: Any, known: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Fitting arguments for what is needed, and the wrong one."""
    places: list[Any] = []
    words: dict[str, Any] = {}
    for one in subject.parameters:
        if one.is_mark or one.takes_all or not (one.needed or one is wrong):
            continue
        given = value if one is wrong else fitting(one, known)
        if _is_positional(subject, one):
            places.append(given)
        else:
            words[one.name] = given
    return places, words


def _called(subject: Callable_, fault: str, given: tuple[list[Any], dict[str, Any]], argument: str) -> Call:
    places, words = given
    try:
        answer = subject.call(*subject.own, *places, **words)
    except d5.Error as error:
        told = str(error)
        name = subject.who.removeprefix("d5.")
        others = any(isinstance(one, Stranger) for one in (*places, *words.values()))  # the first one may be named
        names_both = name.rpartition(".")[2] in told and (argument in told or others or re.fullmatch(r"arg\d+", argument))
        return Call(subject.who, fault, "typed" if names_both and "\n" not in told else "unnamed", told)
    except Exception as error:
        return Call(subject.who, fault, "raw", f"{type(error).__name__}: {error}")
    return Call(subject.who, fault, "silent", repr(answer)[:100])


def figures(calls: list[Call]) -> str:
    count = Counter(call.outcome for call in calls)
    told = ", ".join(f"{count[outcome]} {outcome}" for outcome in ("typed", "unnamed", "raw", "silent"))
    return f"{len({call.who for call in calls})} functions, {len(calls)} wrong calls: {told}"


if __name__ == "__main__":
    done = walk()
    for one in done:
        if one.outcome != "typed":
            print(one.outcome, one.who, one.fault, one.told[:300].replace("\n", " / "), sep=" | ")
    print(figures(done))
