# SPDX-License-Identifier: Apache-2.0
"""How notebooks show networks, recipes and environments."""

import base64
import collections
import html
import json
from typing import Any, Iterable

from d5 import _d5
from d5._nearest import knows_its_keywords
from d5.errors import Unsupported

_MOST_OPEN = 200  # maximum number of nodes of a network that is shown unfolded
_MOST_DRAWN = 2000


def image_of(svg: str) -> str:
    """An image of its own, so that its styles stay separate."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" style="max-width: 100%">'


def _table(rows: Iterable[tuple[str, ...]], titles: tuple[str, ...] = ()) -> str:
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if titles else ''}<tbody>{body}</tbody></table>"


def _folded(title: str, inside: str, is_open: bool) -> str:
    return f"<details{' open' if is_open else ''}><summary>{html.escape(title)}</summary>{inside}</details>"


def network_html(network: _d5.Network) -> str:
    nodes = len(network.nodes)
    title = repr(network)[1:-1].removeprefix("d5.")
    operators = collections.Counter(node.op_type for node in network.nodes)
    counts = _table(((name, str(count)) for name, count in operators.most_common()), ("operator", "nodes"))
    if nodes > _MOST_DRAWN:
        return _folded(title, f"{counts}<p>Too large to draw: more than {_MOST_DRAWN} nodes.</p>", False)
    try:
        picture = image_of(network.svg())
    except Unsupported as reason:
        return _folded(title, f"{counts}<p>{html.escape(str(reason))}</p>", False)
    if nodes <= _MOST_OPEN:
        return _folded(title, picture, True)
    return _folded(title, counts + _folded("picture", picture, False), False)


def recipe_html(recipe: _d5.Recipe) -> str:
    changed = {line.partition("=")[0] for line in recipe.changes}
    rows = []
    for key, value in recipe.values.items():
        least_most = recipe.ranges.get(key)
        tuned = f"{least_most[0]:g} to {least_most[1]:g}" if least_most else ""
        rows.append((key, value, "changed" if key in changed else "", tuned))
    bounds = ((metric, bound.replace("_", " "), f"{value:g}") for metric, (bound, value) in recipe.acceptable.items())
    accepted = _table(bounds, ("accepted", "", "")) if recipe.acceptable else ""
    values = _table(rows, ("key", "value", "", "range"))
    return (
        f"<p><b>{html.escape(recipe.name)}</b>: {html.escape(recipe.summary)}</p>{values}{accepted}"
        f"<p><code>{html.escape(recipe.command)}</code></p>"
    )


class Environment(dict[str, Any]):
    """What numbers depend on besides the code, by name, as in results files: SI units."""

    def __str__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:{width}}  {value}" for name, value in self._told())

    def _told(self) -> Iterable[tuple[str, str]]:
        for name, value in self.items():
            if not value:  # absent, or never measured
                continue
            if isinstance(value, dict):
                yield name, ", ".join(f"{one} {of}" for one, of in value.items())
            elif isinstance(value, list):
                yield name, ", ".join(map(str, value))
            else:
                yield name, f"{value:g}" if isinstance(value, float) else str(value)

    def _repr_html_(self) -> str:
        return _folded(f"{self['hostname']}: {self['cpu']}", _table(self._told()), True)


@knows_its_keywords
def environment() -> Environment:
    """This machine, and the versions of d5 and its libraries in this process."""
    return Environment(json.loads(_d5._environment_json())["environment"])


def show_in_notebooks() -> None:
    setattr(_d5.Network, "_repr_html_", network_html)
    setattr(_d5.Recipe, "_repr_html_", recipe_html)
