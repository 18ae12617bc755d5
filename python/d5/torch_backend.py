# SPDX-License-Identifier: Apache-2.0
# torch's types overload each call with forms that no process group is asked for, and lack others.
# mypy: disable-error-code="override,call-arg,assignment,arg-type,no-untyped-call"
"""torch.distributed over d5's collectives: any script of PyTorch, as it is, and counted.

    import d5.torch_backend
    torch.distributed.init_process_group("d5")
    model = torch.nn.parallel.DistributedDataParallel(model)

Started by mpirun. Importing it, a collective of all ranks then, tells torch where ranks meet
(RANK, WORLD_SIZE, MASTER_ADDR, ...), unless a launcher of torch's has. `pg_options={"all_reduce":
"ring"}`, with the options of that algorithm, or D5_ALL_REDUCE=ring choose how gradients are summed;
else MPI does. Tensors of the CPU, dense and contiguous, are given to d5 without a copy. What torch
asks for and d5 lacks is d5.Unsupported.

What ranks said is in `d5.world().traffic`. While works are under way d5's communicators are not to
be called otherwise.
"""

import datetime
import functools
import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from d5 import _d5
from d5._call_queue import CallQueue
from d5.errors import ShapeError, TypeError, Unsupported, ValueError

_REDUCTIONS = {
    dist.ReduceOp.SUM: "sum",
    dist.ReduceOp.AVG: "sum",  # and divided
    dist.ReduceOp.MAX: "maximum",
    dist.ReduceOp.MIN: "minimum",
}


@functools.cache
def _calls() -> CallQueue:
    return CallQueue()


def _share(call: str, tensor: torch.Tensor) -> _d5.Tensor:
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise Unsupported(f"d5 {call}: given a tensor of {tensor.device}, {tensor.layout}, expected a dense one of cpu")
    if not tensor.is_contiguous():
        raise ValueError(f"d5 {call}: the tensor is not contiguous; give tensor.contiguous()")
    return _d5.Tensor(tensor.detach())


class _Work(dist.Work):
    def __init__(self, result: list[torch.Tensor]) -> None:
        super().__init__()
        self._result = result
        self._error: BaseException | None = None
        self._asked_by = threading.current_thread()
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._listeners: list[Callable[[], object]] = []
        self._future: Any = None

    def ended(self, error: BaseException | None) -> None:
        with self._lock:
            self._error = error
            self._done.set()
        for listener in self._listeners:
            listener()

    def when_ended(self, listener: Callable[[], object]) -> None:
        with self._lock:
            if not self._done.is_set():
                self._listeners.append(listener)
                return
        listener()

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        return self._done.is_set()

    def is_success(self) -> bool:
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        return self._error

    def result(self) -> list[torch.Tensor]:
        return self._result

    def get_future(self) -> Any:
        if self._future is None:
            root: Any = torch.futures.Future()
            # A callback that raises is the one way in which C++ hears of an error.
            self._future = root.then(self._value)
            complete = functools.partial(root.set_result, None)
            # What follows a future, such as PowerSGD's steps, may wait for more works.
            self.when_ended(lambda: _calls().run_hook(complete, self._asked_by))
        return self._future

    def _value(self, root: Any) -> list[torch.Tensor]:
        if self._error is not None:
            raise self._error
        return self._result


class _ReceiveWork(_Work):
    """`source_rank` is known when it is complete."""

    started: _d5.StartedCall | None = None

    def _source_rank(self) -> int:
        assert self.started is not None
        return self.started.received[0]


class ProcessGroup(dist.ProcessGroup):
    """The ranks of a communicator, as torch sees them."""

    def __init__(self, communicator: _d5.Communicator, all_reduce: _d5.AllReduce | None = None) -> None:
        super().__init__(communicator.rank, communicator.size)
        self._ranks = communicator
        self._all_reduce = all_reduce

    @property
    def communicator(self) -> _d5.Communicator:
        return self._ranks

    def _ask(
        self,
        result: Sequence[torch.Tensor],
        start: Callable[[], _d5.StartedCall],
        finish: Callable[[], object] | None = None,
    ) -> _Work:
        work = _Work(list(result))

        def ended(error: BaseException | None) -> None:
            if error is None and finish:
                try:
                    finish()
                except Exception as raised:
                    error = raised
            work.ended(error)

        _calls().ask(start, ended)
        return work

    def _reduction(self, call: str, op: Any, tensor: torch.Tensor) -> tuple[str, bool]:
        """d5's name of it, and whether sums are divided by the number of ranks."""
        kind = next((kind for kind in _REDUCTIONS if op == kind), None)
        if kind is None:
            raise Unsupported(f"d5 {call}: given {op}, expected SUM, AVG, MAX or MIN")
        if kind == dist.ReduceOp.AVG and not tensor.is_floating_point():
            raise Unsupported(f"d5 {call}: an average of {tensor.dtype}; sum, and divide as you want it rounded")
        return _REDUCTIONS[kind], kind == dist.ReduceOp.AVG

    def _divide(self, tensor: _d5.Tensor, averages: bool) -> Callable[[], object] | None:
        return (lambda: self._ranks.scale_local(tensor, 1 / self.size())) if averages else None

    def _one(self, call: str, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
        if len(tensors) != 1:
            raise Unsupported(f"d5 {call}: given {len(tensors)} tensors, expected one a rank")
        return tensors[0]

    def allreduce(self, tensors: Any, opts: Any = None) -> _Work:
        tensor = self._one("all_reduce", tensors)
        op = dist.ReduceOp.SUM if opts is None else opts if isinstance(opts, dist.ReduceOp) else opts.reduceOp
        reduction, averages = self._reduction("all_reduce", op, tensor)
        shared = _share("all_reduce", tensor)
        algorithm, ranks = self._all_reduce, self._ranks
        start: Callable[[], _d5.StartedCall] = (
            (lambda: algorithm.start(ranks, shared, reduction))
            if algorithm
            else (lambda: ranks.start_all_reduce(shared, reduction))
        )
        return self._ask([tensor], start, self._divide(shared, averages))

    def allreduce_coalesced(self, tensors: Any, opts: Any) -> _Work:
        return _joined([self.allreduce([tensor], opts) for tensor in tensors], list(tensors))

    def reduce(self, tensors: Any, opts: Any) -> _Work:
        """As all_reduce, which torch allows: it promises nothing of other ranks' tensors."""
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any) -> _Work:
        tensor = self._one("broadcast", tensors)
        shared, root = _share("broadcast", tensor), opts.rootRank
        return self._ask([tensor], lambda: self._ranks.start_broadcast(shared, root))

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> _Work:
        mine, all = _share("all_gather", input), _share("all_gather", output)
        return self._ask([output], lambda: self._ranks.start_all_gather(mine, all))

    _allgather_base = all_gather_single

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> _Work:
        mine, parts = self._one("all_gather", inputs), self._one("all_gather", outputs)
        counts = [part.numel() for part in parts]
        whole = mine.new_empty(sum(counts))
        shared, all = _share("all_gather", mine), _share("all_gather", whole)
        return self._ask(
            parts,
            lambda: self._ranks.start_all_gather(shared, all, counts),
            lambda: _copy_out(whole, parts),
        )

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any) -> _Work:
        reduction, averages = self._reduction("reduce_scatter", opts.reduceOp, input)
        all, mine = _share("reduce_scatter", input), _share("reduce_scatter", output)
        return self._ask(
            [output],
            lambda: self._ranks.start_reduce_scatter(all, mine, reduction),
            self._divide(mine, averages),
        )

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any) -> _Work:
        output, parts = self._one("reduce_scatter", outputs), self._one("reduce_scatter", inputs)
        reduction, averages = self._reduction("reduce_scatter", opts.reduceOp, output)
        counts = [part.numel() for part in parts]
        whole = torch.cat([part.detach().reshape(-1) for part in parts])
        all, mine = _share("reduce_scatter", whole), _share("reduce_scatter", output)
        return self._ask(
            [output],
            lambda: self._ranks.start_reduce_scatter(all, mine, reduction, counts),
            self._divide(mine, averages),
        )

    def gather(self, outputs: Any, inputs: Any, opts: Any) -> _Work:
        mine, root = self._one("gather", inputs), opts.rootRank
        shared = _share("gather", mine)
        if self.rank() != root:
            return self._ask([], lambda: self._ranks.start_gather(shared, None, root))
        parts = self._one("gather", outputs)
        _expect_equal("gather", mine, parts)
        whole = mine.new_empty(mine.numel() * len(parts))
        all = _share("gather", whole)
        return self._ask(
            parts, lambda: self._ranks.start_gather(shared, all, root), lambda: _copy_out(whole, parts)
        )

    def scatter(self, outputs: Any, inputs: Any, opts: Any) -> _Work:
        output, root = self._one("scatter", outputs), opts.rootRank
        mine = _share("scatter", output)
        if self.rank() != root:
            return self._ask([output], lambda: self._ranks.start_scatter(None, mine, root))
        parts = self._one("scatter", inputs)
        _expect_equal("scatter", output, parts)
        all = _share("scatter", torch.cat([part.detach().reshape(-1) for part in parts]))
        return self._ask([output], lambda: self._ranks.start_scatter(all, mine, root))

    def all_to_all_single(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> _Work:
        to_each, from_each = _share("all_to_all", input), _share("all_to_all", output)
        to_counts = _counts("all_to_all", input, input_splits)
        from_counts = _counts("all_to_all", output, output_splits)
        if bool(to_counts) != bool(from_counts):  # d5 takes none or both
            to_counts = to_counts or [input.numel() // self.size()] * self.size()
            from_counts = from_counts or [output.numel() // self.size()] * self.size()
        return self._ask(
            [output], lambda: self._ranks.start_all_to_all(to_each, from_each, to_counts, from_counts)
        )

    alltoall_base = all_to_all_single

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> _Work:
        to_counts, from_counts = [part.numel() for part in inputs], [part.numel() for part in outputs]
        sent = torch.cat([part.detach().reshape(-1) for part in inputs])
        whole = sent.new_empty(sum(from_counts))
        to_each, from_each = _share("all_to_all", sent), _share("all_to_all", whole)
        return self._ask(
            outputs,
            lambda: self._ranks.start_all_to_all(to_each, from_each, to_counts, from_counts),
            lambda: _copy_out(whole, outputs),
        )

    def barrier(self, opts: Any = None) -> _Work:
        return self._ask([], self._ranks.start_barrier)

    def send(self, tensors: Any, to: int, tag: int = 0) -> _Work:
        tensor = self._one("send", tensors)
        shared = _share("send", tensor)
        return self._ask([tensor], lambda: self._ranks.start_send(shared, to, tag))

    def recv(self, tensors: Any, source: int, tag: int = 0) -> _Work:
        tensor = self._one("receive", tensors)
        shared = _share("receive", tensor)
        work = _ReceiveWork([tensor])

        def start() -> _d5.StartedCall:
            work.started = self._ranks.start_receive(shared, source, tag)
            return work.started

        def ended(error: BaseException | None) -> None:
            if error is None and work.started and work.started.received[1] != tensor.numel():
                error = ShapeError(
                    f"d5 receive: {work.started.received[1]} elements came, expected {tensor.numel()}"
                )
            work.ended(error)

        _calls().ask(start, ended)
        return work

    def recv_anysource(self, tensors: Any, tag: int = 0) -> _Work:
        return self.recv(tensors, -1, tag)

    def getBackendName(self) -> str:
        return "d5"

    def _get_backend_name(self) -> str:
        return "d5"

    def shutdown(self) -> None:
        """Nothing is kept: ranks end with the process."""

    def abort(self) -> None:
        """As shutdown."""


def _copy_out(whole: torch.Tensor, parts: Sequence[torch.Tensor]) -> None:
    with torch.no_grad():
        for part, values in zip(parts, whole.split([part.numel() for part in parts])):
            part.copy_(values.view(part.shape))


def _expect_equal(call: str, mine: torch.Tensor, parts: Sequence[torch.Tensor]) -> None:
    for part in parts:
        if part.numel() != mine.numel() or part.dtype != mine.dtype:
            raise ShapeError(
                f"d5 {call}: given {part.numel()} x {part.dtype}, expected {mine.numel()} x {mine.dtype}, as of each rank"
            )


def _counts(call: str, tensor: torch.Tensor, splits: Sequence[int] | None) -> list[int]:
    if not splits:
        return []
    if sum(splits) != tensor.shape[0]:
        raise ShapeError(f"d5 {call}: parts of {list(splits)} rows, expected {tensor.shape[0]} in all")
    row = tensor.numel() // max(tensor.shape[0], 1)
    return [rows * row for rows in splits]


def _joined(works: list[_Work], tensors: list[torch.Tensor]) -> _Work:
    whole = _Work(tensors)
    rest = iter(works)

    def wait_for_next() -> None:
        work = next(rest, None)
        if work is None:
            whole.ended(next((work.exception() for work in works if work.exception()), None))
        else:
            work.when_ended(wait_for_next)

    wait_for_next()
    return whole


def _algorithm(options: Any) -> _d5.AllReduce | None:
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"d5: pg_options is a {type(options).__name__}, expected a dict, such as {{'all_reduce': 'ring'}}")
    chosen = dict(options or {})
    name = chosen.pop("all_reduce", os.environ.get("D5_ALL_REDUCE", "mpi"))
    return None if name == "mpi" and not chosen else _d5.AllReduce(name, **chosen)


def _make(of_torch: Any, options: Any) -> ProcessGroup:
    world = _d5.world()
    rank, size = of_torch.group_rank, of_torch.group_size
    members = list(of_torch.global_ranks_in_group) or list(range(size))
    if size != world.size:
        raise Unsupported(
            f"d5: a group of {size} ranks where mpirun started {world.size}; all of them belong to each group (start by "
            "mpirun, not by torchrun)"
        )
    if members[rank] != world.rank:
        raise ValueError(f"d5: torch calls this rank {members[rank]}, mpirun {world.rank}; leave out rank=")
    if of_torch.global_ranks_in_group:
        world = world.split(0, rank)
    return ProcessGroup(world, _algorithm(options))


def _tell_where_ranks_meet() -> None:
    if "MASTER_ADDR" in os.environ or "RANK" in os.environ:
        return
    world = _d5.world()
    host, port = np.zeros(256, np.uint8), np.zeros(1, np.int64)
    if world.rank == 0:
        name = socket.gethostname().encode()[: host.size]
        host[: len(name)] = np.frombuffer(name, np.uint8)
        with socket.socket() as one:
            one.bind(("", 0))
            port[0] = one.getsockname()[1]
    world.broadcast(_d5.Tensor(host))
    world.broadcast(_d5.Tensor(port))
    name_of_first = bytes(host).rstrip(b"\0").decode()
    elsewhere = np.array([name_of_first != socket.gethostname()], np.int64)
    world.all_reduce(_d5.Tensor(elsewhere))
    os.environ.update(
        RANK=str(world.rank),
        WORLD_SIZE=str(world.size),
        LOCAL_RANK=os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        MASTER_ADDR=name_of_first if elsewhere[0] else "127.0.0.1",  # a name may stand in no table
        MASTER_PORT=str(port[0]),
    )


_tell_where_ranks_meet()
dist.Backend.register_backend("d5", _make, extended_api=True, devices=["cpu"])
