# SPDX-License-Identifier: Apache-2.0
"""The list in which measurements come."""

from __future__ import annotations

from typing import Any, SupportsIndex, overload

from d5._d5 import Measurement, to_html, to_table
from d5._plotting import plot


class Measurements(list[Measurement]):
    """Rows, which print as a table and which a notebook shows as one."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Measurement: ...
    @overload
    def __getitem__(self, place: slice) -> Measurements: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Measurement | Measurements:
        found = super().__getitem__(place)
        return Measurements(found) if isinstance(found, list) else found

    def __add__(self, other: list[Measurement]) -> Measurements:  # type: ignore[override]
        return Measurements(super().__add__(other))

    def __str__(self) -> str:
        return to_table(self)

    def plot(self, name: str = "", axes: Any = None) -> Any:
        """One of `d5.plots`, the first for an empty name: drawn on `axes`, or new ones, of matplotlib,
        which are returned; the `d5.Plot` where matplotlib is not installed."""
        return plot(self, name, axes)

    def _repr_html_(self) -> str:
        return to_html(self)
