# SPDX-License-Identifier: Apache-2.0
"""Signatures of the C++ part's functions for `inspect.signature`, from their documentation."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any, Iterable

if TYPE_CHECKING:
    from d5._parameters import TextParameter


class _Default:
    """A default that has no literal."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature_of(parameters: Iterable[TextParameter]) -> inspect.Signature:
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    told: list[inspect.Parameter] = []
    for one in parameters:
        if one.text == "/":
            told = [earlier.replace(kind=inspect.Parameter.POSITIONAL_ONLY) for earlier in told]
        elif one.text == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif one.takes_all:
            told.append(inspect.Parameter(one.name, inspect.Parameter.VAR_KEYWORD))
        elif one.text.startswith("*"):
            told.append(inspect.Parameter(one.name, inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            told.append(inspect.Parameter(one.name, kind, default=_default(one), annotation=one.kind))
    return inspect.Signature(told)


def _default(parameter: TextParameter) -> Any:
    if parameter.needed:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(parameter.default)
    except (ValueError, SyntaxError):
        return _Default(parameter.default)
