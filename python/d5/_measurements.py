# SPDX-License-Identifier: Apache-2.0
"""The list in which measurements come."""

from __future__ import annotations

from d5._d5 import Measurement, to_html, to_table


class Measurements(list[Measurement]):
    """Rows, which print as a table and which a notebook shows as one."""

    def __str__(self) -> str:
        return to_table(self)

    def _repr_html_(self) -> str:
        return to_html(self)
