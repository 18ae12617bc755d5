# SPDX-License-Identifier: Apache-2.0
"""Every public function, class, method and property has a docstring, besides the signatures that pybind11 writes."""

import importlib
import inspect
import re

import pytest

import d5

# Names that need none, each with the reason.
NEEDLESS = {"d5.Measurement.keys": "a mapping's"}


def words(name, one):
    """The docstring, without signatures, which pybind11 numbers where there are several. A method in Python has that
    of the method that it overrides, unless it has its own."""
    signature = rf"^(\d+\. )?({re.escape(name)}|__init__)?\(.*\)( -> .*)?$|^Overloaded function\.$"
    return re.sub(signature, "", inspect.getdoc(one) or "", flags=re.M).strip()


def members(made):
    """Methods and properties that the class itself has."""
    for name in vars(made):
        one = getattr(made, name)  # a function for a static method
        if not name.startswith("_") and (isinstance(one, property) or callable(one)):
            yield name, one


def lacking(module, names):
    for name in names:
        one = getattr(module, name)
        if not callable(one):
            continue
        if not words(name, one):
            yield f"{module.__name__}.{name}"
        if isinstance(one, type):
            found = (f"{module.__name__}.{name}.{member}" for member, own in members(one) if not words(member, own))
            yield from (who for who in found if who not in NEEDLESS)


def test_d5():
    names = [name for name in dir(d5) if not name.startswith("_")]
    assert len(names) > 200
    assert list(lacking(d5, names)) == []


@pytest.mark.parametrize("name", ["op", "torch"])
def test_its_modules(name):
    if name == "torch":
        pytest.importorskip("torch")
    module = importlib.import_module(f"d5.{name}")
    own = [name for name, one in inspect.getmembers(module, inspect.isfunction) if one.__module__ == module.__name__]
    names = [name for name in getattr(module, "__all__", own) if not name.startswith("_")]
    assert len(names) > 2
    assert list(lacking(module, names)) == []


def test_no_exception_is_out_of_date():
    for who in NEEDLESS:
        _, made, member = who.split(".")
        assert not words(member, getattr(getattr(d5, made), member)), f"{who} has a docstring"


@pytest.mark.parametrize(
    "signatures",
    [
        "",
        "f(self: d5._d5.Tensor, *, copy: bool = True) -> int\n",
        "f(*args, **kwargs)\nOverloaded function.\n\n1. f(a: int) -> int\n\n2. f(a: str) -> None\n",
        "__init__(self: d5._d5.Plot) -> None\n",
        "(arg0: d5._d5.Plot) -> str\n",  # a property's
    ],
)
def test_a_signature_is_no_docstring(signatures):
    def f(): ...

    f.__doc__ = signatures
    assert words("f", f) == ""
    f.__doc__ = f"{signatures}\nNumber of dimensions.\n"
    assert words("f", f) == "Number of dimensions."
