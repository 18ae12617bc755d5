# SPDX-License-Identifier: Apache-2.0
"""torch's process groups of all ranks, over one backend or another."""

import functools

import torch.distributed as dist

import d5.torch_backend  # noqa: F401  # ranks meet
from d5.errors import NotFound


@functools.cache
def group_of(backend: str) -> dist.ProcessGroup:
    """A collective of all ranks, at its first call."""
    if backend not in ("d5", "gloo"):
        raise NotFound(f"backend '{backend}' is unknown; d5 or gloo")
    if not dist.is_initialized():
        dist.init_process_group(backend)
    everyone = dist.group.WORLD
    assert everyone is not None
    return everyone if dist.get_backend() == backend else dist.new_group(backend=backend)
