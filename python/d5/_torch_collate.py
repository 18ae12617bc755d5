# SPDX-License-Identifier: Apache-2.0
"""Lets torch's DataLoader collate samples and batches of d5."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch.utils.data._utils.collate import collate, default_collate_fn_map

import d5


def _collate_tensors(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """d5's tensors as torch's, stacked along a new first dimension; texts as a list."""
    arrays = [np.asarray(one) for one in batch]
    return collate([_for_torch(one) for one in arrays], collate_fn_map=collate_fn_map)


def _for_torch(array: Any) -> Any:
    """torch has no type for texts."""
    return array.tolist() if array.dtype.kind in "OUS" else array


default_collate_fn_map[d5.Tensor] = _collate_tensors
