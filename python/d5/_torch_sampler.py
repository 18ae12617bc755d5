# SPDX-License-Identifier: Apache-2.0
"""A torch DataLoader as a sampler."""

from __future__ import annotations

import builtins
from typing import Any, Iterable, Mapping

import torch

from d5._d5 import Sampler as _Sampler
from d5._nearest import knows_its_keywords
from d5._parameters import shown
from d5.errors import ShapeError, TypeError, ValueError


class Sampler(_Sampler):
    """Batches of a torch DataLoader: its tensors by the names in `fields`, or by the loader's names.

    An epoch's batches depend on its number and `seed` alone, so that training can resume: they seed
    the loader's random orders, and a DistributedSampler receives the epoch.
    """

    @knows_its_keywords
    def __init__(self, loader: Any, fields: Iterable[str] | None = None, seed: int = 0) -> None:
        super().__init__()
        if not hasattr(loader, "sampler") or not hasattr(loader, "generator"):
            raise TypeError(
                f"d5.torch.sampler: loader is {shown(loader)}, expected a DataLoader; "
                "torch.utils.data.DataLoader(dataset, batch_size=32) makes one"
            )
        try:
            len(loader)
        except builtins.TypeError:
            raise TypeError(
                f"d5.torch.sampler: the loader's {type(loader.dataset).__name__} has no length, which says when an epoch ends; give it __len__"
            ) from None
        if isinstance(fields, str):
            raise TypeError(f"d5.torch.sampler: fields is {shown(fields)}, expected a list of names: [{shown(fields)}]")
        fields = None if fields is None else list(fields)
        if fields is not None and len(set(fields)) < len(fields):
            raise ValueError(f"d5.torch.sampler: fields is {shown(fields)}, expected a name for each tensor, each once")
        if seed < 0:
            raise ValueError(f"d5.torch.sampler: seed is {seed}, expected an integer of 0 or more")
        self.loader, self.fields, self.seed = loader, fields, seed
        self._batches: Any = None

    def settings(self) -> dict[str, str]:
        batch_size = "" if self.loader.batch_size is None else str(self.loader.batch_size)
        return {"batch_size": batch_size, "batches": str(len(self.loader)), "seed": str(self.seed)}

    def reset(self, epoch: Any = 0) -> None:
        if hasattr(self.loader.sampler, "set_epoch"):
            self.loader.sampler.set_epoch(int(epoch))
        begin = (self.seed * 0x9E3779B97F4A7C15 + int(epoch)) % (1 << 63)
        if getattr(self.loader.sampler, "generator", 0) is None:  # it would draw from torch's global generator
            self.loader.sampler.generator = torch.Generator()
        for generator in {self.loader.generator, getattr(self.loader.sampler, "generator", None)} - {None}:
            generator.manual_seed(begin)
        self._batches = iter(self.loader)
        self._epoch = int(epoch)
        self._loop = (self._epoch - 1, False)  # the next `for` is the next epoch

    def next(self) -> Any:
        if self._batches is None:
            self.reset(0)
        self._loop = (self._epoch, False)
        batch = next(self._batches, None)
        if batch is None:
            return None
        if isinstance(batch, Mapping):
            return dict(batch)
        if self.fields is None:
            raise TypeError("the loader gives tuples; say what is in them: fields=['image', 'label']")
        values = batch if isinstance(batch, (tuple, list)) else (batch,)
        if len(values) != len(self.fields):
            raise ShapeError(f"the loader gives {len(values)} tensors, but fields are {list(self.fields)}")
        return dict(zip(self.fields, values))

    def __len__(self) -> int:
        return len(self.loader)
