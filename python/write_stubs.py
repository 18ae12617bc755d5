# SPDX-License-Identifier: Apache-2.0
"""Writes the type stubs of the built module: pybind11-stubgen, and what it leaves out.

usage: write_stubs.py FOLDER    the package d5 is in FOLDER
"""

import abc
import inspect
import pathlib
import re
import sys

import pybind11_stubgen
from typing import Any

# Methods by class that pybind11-stubgen does not see.
ADDED = {
    # Python 3.12 and type checkers know buffers by this method; pybind11's are none that a stub shows.
    "Tensor": ["__buffer__(self, flags: int, /) -> memoryview"],
    # `d5._measurements` makes it a mapping.
    "Measurement": [
        "keys(self) -> collections.abc.KeysView[str]",
        "__getitem__(self, name: str, /) -> typing.Any",
        "__iter__(self) -> collections.abc.Iterator[str]",
        "__len__(self) -> int",
    ],
}


def main(folder: pathlib.Path) -> None:
    sys.path.insert(0, str(folder))
    from d5 import _d5

    for made in filter(lambda one: isinstance(one, type), vars(_d5).values()):
        for name, method in list(vars(made).items()):
            if name == "__init_subclass__":  # Python's part added it
                delattr(made, name)
            elif isinstance(method, staticmethod):  # around others `d5._words` explains wrong calls
                setattr(made, name, staticmethod(getattr(method.__func__, "__wrapped__", method.__func__)))
            elif isinstance(method, property):
                getter: Any = getattr(method.fget, "__wrapped__", method.fget)
                setattr(made, name, property(getter, method.fset, None, method.__doc__))
            elif hasattr(method, "__wrapped__"):
                setattr(made, name, method.__wrapped__)
            elif inspect.isfunction(method):  # Python's part added it
                delattr(made, name)
    pybind11_stubgen.main(["d5._d5", "-o", str(folder), "--exit-code"])
    stub = folder / "d5" / "_d5.pyi"
    text = stub.read_text().replace("os.PathLike |", "os.PathLike[str] |")
    for module in ("numpy.typing", "os"):  # it imports no module that stands within an expression
        if re.search(rf"\b{module}\.", text) and f"import {module}\n" not in text:
            text = text.replace("import typing\n", f"import {module}\nimport typing\n", 1)
    # A framework's word may be a list of words (`d5._words`).
    text = re.sub(r"\bframework: str(?= =|,|\))", "framework: str | collections.abc.Sequence[str]", text)
    # Within Tensor, `numpy` is its method.
    text = re.sub(r"\bnumpy\.dtype\b", "_numpy.dtype", text)
    text = text.replace("import numpy.typing\n", "import numpy as _numpy\nimport numpy.typing\n", 1)
    for own, methods in ADDED.items():
        added = "".join(f"    def {method}: ...\n" for method in methods)
        begin = rf"^(class {own}:\n.*?)(?=^    def )"
        text = re.sub(begin, lambda match: match[1] + added, text, count=1, flags=re.M | re.S)
    stub.write_text(with_bases(text))


def with_bases(text: str) -> str:
    """Classes in C++ that are registered with a base in Python are derived from it for type checkers."""
    from d5 import _bases, _d5, _rank_bases

    found = False
    own_modules = (_bases.__name__, _rank_bases.__name__)
    for base in {**vars(_bases), **vars(_rank_bases)}.values():
        if not isinstance(base, abc.ABCMeta) or base.__module__ not in own_modules:
            continue
        for own, made in vars(_d5).items():
            subclasses: list[type] = base.__subclasses__()
            others = [one for one in subclasses if issubclass(made, one)] if isinstance(made, type) else []
            if not isinstance(made, type) or not issubclass(made, base) or others:
                continue
            text, count = re.subn(rf"^class {own}(?:\((.*)\))?:", lambda m: _class(own, base, m[1]), text, flags=re.M)
            found |= count > 0
    if not found:
        return text
    # Parameters accept the base classes of bound ones; mypy must ignore overrides that differ.
    text = re.sub(r"(\w+): Bound(Optimizer|Schedule)\b", r"\1: d5._bases.\2", text)
    text = text.replace("import typing\n", "import d5._bases\nimport d5._rank_bases\nimport typing\n", 1)
    return '# mypy: disable-error-code="override,misc,assignment,no-untyped-def"\n' + text


def _class(own: str, base: type, others: str | None) -> str:
    return f"class {own}({others + ', ' if others else ''}{base.__module__}.{base.__name__}):"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
