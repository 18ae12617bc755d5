# SPDX-License-Identifier: Apache-2.0
"""Arrays by name that hooks are given."""

from __future__ import annotations

from typing import Any, NoReturn

from d5._nearest import hint
from d5.errors import NotFound


class NamedValues(dict[str, Any]):
    """A dict whose unknown name is an error with the nearest."""

    def __missing__(self, name: object) -> NoReturn:
        refuse_name("output", name, list(self))


def refuse_name(what: str, name: object, names: list[str]) -> NoReturn:
    """Raises: NotFound, with the nearest and all names."""
    raise NotFound(f"there is no {what} {name!r}; {hint(str(name), names, 'there are')}")
