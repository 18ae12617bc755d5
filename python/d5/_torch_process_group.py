# SPDX-License-Identifier: Apache-2.0
# torch's types overload each call with forms that process groups do not need, and lack others.
# mypy: disable-error-code="override,call-arg,assignment,arg-type,no-untyped-call"
"""torch.distributed's calls on the ranks of a communicator."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from d5 import _d5
from d5._torch_tensors import copy_out, counts_of, expect_equal, one, reduction_of, share
from d5._torch_works import ReceiveWork, Work, calls, joined
from d5.errors import ShapeError


class ProcessGroup(dist.ProcessGroup):
    """The ranks of a communicator as a process group of torch."""

    def __init__(self, communicator: _d5.Communicator, all_reduce: _d5.AllReduce | None = None) -> None:
        super().__init__(communicator.rank, communicator.size)
        self._ranks = communicator
        self._all_reduce = all_reduce
        self._name = self._description = ""

    @property
    def communicator(self) -> _d5.Communicator:
        return self._ranks

    def _ask(
        self,
        result: Sequence[torch.Tensor],
        start: Callable[[], _d5.StartedCall],
        finish: Callable[[], object] | None = None,
    ) -> Work:
        work = Work(list(result))

        def ended(error: BaseException | None) -> None:
            if error is None and finish:
                try:
                    finish()
                except Exception as raised:
                    error = raised
            work.ended(error)

        calls().ask(start, ended)
        return work

    def _divide(self, tensor: _d5.Tensor, averages: bool) -> Callable[[], object] | None:
        return (lambda: self._ranks.scale_local(tensor, 1 / self.size())) if averages else None

    def allreduce(self, tensors: Any, opts: Any = None) -> Work:
        tensor = one("all_reduce", tensors)
        op = dist.ReduceOp.SUM if opts is None else opts if isinstance(opts, dist.ReduceOp) else opts.reduceOp
        reduction, averages = reduction_of("all_reduce", op, tensor)
        shared = share("all_reduce", tensor)
        algorithm, ranks = self._all_reduce, self._ranks
        start: Callable[[], _d5.StartedCall] = (
            (lambda: algorithm.start(ranks, shared, reduction))
            if algorithm
            else (lambda: ranks.start_all_reduce(shared, reduction))
        )
        return self._ask([tensor], start, self._divide(shared, averages))

    def allreduce_coalesced(self, tensors: Any, opts: Any) -> Work:
        return joined([self.allreduce([tensor], opts) for tensor in tensors], list(tensors))

    def reduce(self, tensors: Any, opts: Any) -> Work:
        """Same as all_reduce, which torch allows: other ranks' tensors are unspecified."""
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any) -> Work:
        tensor = one("broadcast", tensors)
        shared, root = share("broadcast", tensor), opts.rootRank
        return self._ask([tensor], lambda: self._ranks.start_broadcast(shared, root))

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> Work:
        mine, all = share("all_gather", input), share("all_gather", output)
        return self._ask([output], lambda: self._ranks.start_all_gather(mine, all))

    _allgather_base = all_gather_single

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        works = [self.all_gather_single(all, mine) for all, mine in zip(outputs, inputs)]
        return joined(works, list(outputs))

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        mine, parts = one("all_gather", inputs), one("all_gather", outputs)
        counts = [part.numel() for part in parts]
        whole = mine.new_empty(sum(counts))
        shared, all = share("all_gather", mine), share("all_gather", whole)
        return self._ask(
            parts,
            lambda: self._ranks.start_all_gather(shared, all, counts),
            lambda: copy_out(whole, parts),
        )

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any) -> Work:
        reduction, averages = reduction_of("reduce_scatter", opts.reduceOp, input)
        all, mine = share("reduce_scatter", input), share("reduce_scatter", output)
        return self._ask(
            [output],
            lambda: self._ranks.start_reduce_scatter(all, mine, reduction),
            self._divide(mine, averages),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        works = [self.reduce_scatter_single(mine, all, opts) for mine, all in zip(outputs, inputs)]
        return joined(works, list(outputs))

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        output, parts = one("reduce_scatter", outputs), one("reduce_scatter", inputs)
        reduction, averages = reduction_of("reduce_scatter", opts.reduceOp, output)
        counts = [part.numel() for part in parts]
        whole = torch.cat([part.detach().reshape(-1) for part in parts])
        all, mine = share("reduce_scatter", whole), share("reduce_scatter", output)
        return self._ask(
            [output],
            lambda: self._ranks.start_reduce_scatter(all, mine, reduction, counts),
            self._divide(mine, averages),
        )

    def gather(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        mine, root = one("gather", inputs), opts.rootRank
        shared = share("gather", mine)
        if self.rank() != root:
            return self._ask([], lambda: self._ranks.start_gather(shared, None, root))
        parts = one("gather", outputs)
        expect_equal("gather", mine, parts)
        whole = mine.new_empty(mine.numel() * len(parts))
        all = share("gather", whole)
        return self._ask(
            parts, lambda: self._ranks.start_gather(shared, all, root), lambda: copy_out(whole, parts)
        )

    def scatter(self, outputs: Any, inputs: Any, opts: Any) -> Work:
        output, root = one("scatter", outputs), opts.rootRank
        mine = share("scatter", output)
        if self.rank() != root:
            return self._ask([output], lambda: self._ranks.start_scatter(None, mine, root))
        parts = one("scatter", inputs)
        expect_equal("scatter", output, parts)
        all = share("scatter", torch.cat([part.detach().reshape(-1) for part in parts]))
        return self._ask([output], lambda: self._ranks.start_scatter(all, mine, root))

    def all_to_all_single(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> Work:
        to_each, from_each = share("all_to_all", input), share("all_to_all", output)
        to_counts = counts_of("all_to_all", input, input_splits)
        from_counts = counts_of("all_to_all", output, output_splits)
        if bool(to_counts) != bool(from_counts):  # d5 takes none or both
            to_counts = to_counts or [input.numel() // self.size()] * self.size()
            from_counts = from_counts or [output.numel() // self.size()] * self.size()
        return self._ask(
            [output], lambda: self._ranks.start_all_to_all(to_each, from_each, to_counts, from_counts)
        )

    alltoall_base = all_to_all_single

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        to_counts, from_counts = [part.numel() for part in inputs], [part.numel() for part in outputs]
        sent = torch.cat([part.detach().reshape(-1) for part in inputs])
        whole = sent.new_empty(sum(from_counts))
        to_each, from_each = share("all_to_all", sent), share("all_to_all", whole)
        return self._ask(
            outputs,
            lambda: self._ranks.start_all_to_all(to_each, from_each, to_counts, from_counts),
            lambda: copy_out(whole, outputs),
        )

    def barrier(self, opts: Any = None) -> Work:
        return self._ask([], self._ranks.start_barrier)

    def send(self, tensors: Any, to: int, tag: int = 0) -> Work:
        tensor = one("send", tensors)
        shared = share("send", tensor)
        return self._ask([tensor], lambda: self._ranks.start_send(shared, to, tag))

    def recv(self, tensors: Any, source: int, tag: int = 0) -> Work:
        tensor = one("receive", tensors)
        shared = share("receive", tensor)
        work = ReceiveWork([tensor])

        def start() -> _d5.StartedCall:
            work.started = self._ranks.start_receive(shared, source, tag)
            return work.started

        def ended(error: BaseException | None) -> None:
            if error is None and work.started and work.started.received[1] != tensor.numel():
                error = ShapeError(
                    f"d5 receive: {work.started.received[1]} elements came, expected {tensor.numel()}"
                )
            work.ended(error)

        calls().ask(start, ended)
        return work

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        return self.recv(tensors, -1, tag)

    def setGroupName(self, name: str) -> None:
        self._name = name

    def getGroupName(self) -> str:
        return self._name

    def setGroupDesc(self, description: str) -> None:
        self._description = description

    def getGroupDesc(self) -> str:
        return self._description

    def getBackendName(self) -> str:
        return "d5"

    def _get_backend_name(self) -> str:
        return "d5"

    def shutdown(self) -> None:
        """Nothing to release: ranks end with the process."""

    def abort(self) -> None:
        """As shutdown."""
