# SPDX-License-Identifier: Apache-2.0
"""Classes of the C++ part that are mappings to Python."""

from collections.abc import Mapping

from d5._d5 import Batch

Mapping.register(Batch)
