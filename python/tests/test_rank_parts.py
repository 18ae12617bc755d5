# SPDX-License-Identifier: Apache-2.0
"""Parts of level 3 that are written in Python, on two ranks, and the calls of communicators."""

from rank_jobs import output_of_two

import d5

PARTS = """
import numpy as np
import d5

@d5.register("tests-gathered")
class Gathered(d5.AllReduce):
    calls = 0
    def start(self, ranks, tensor, reduction="sum"):
        Gathered.calls += 1
        over = {"sum": np.sum, "maximum": np.max, "minimum": np.min}[reduction]
        tensor.numpy()[...] = over(ranks.all_gather(tensor).numpy(), axis=0)

@d5.register("tests-dense")
class Dense(d5.GradientExchange):
    def start(self, bucket, step):
        self.ranks.scale_local(bucket.data, step.weight)
        return self.all_reduce.start(self.ranks, bucket.data)

@d5.register("tests-halves")
class Halves(d5.GradientCompressor):
    def message_bytes(self, elements):
        return 2 * elements
    def compress(self, values, seed):
        return values.numpy().astype(np.float16)
    def expand(self, message, elements):
        return message.numpy().view(np.float16).astype(np.float32)

@d5.register("tests-cut")
class EveryOther(d5.SampleCut):
    def sampler(self, dataset, order, share, shares):
        return order(d5.subset(dataset, list(range(share, len(dataset) // shares * shares, shares))))

@d5.register("tests-pair", kind="topology")
def pair(ranks):
    "Everybody with everybody."
    return d5.MixingMatrix.metropolis(ranks, [(i, j) for j in range(ranks) for i in range(j)])

ranks = d5.world()

def trained(**options):
    network = d5.model("mlp", seed=1, with_loss=True) if "mlp" in d5.models() else d5.model("lenet", seed=1, with_loss=True)
    scheme = d5.distributed_optimizer(
        options.pop("scheme", "consistent_decentralized"), d5.optimizer("sgd", d5.executor(network), learning_rate=0.1), **options)
    fed = d5.random_inputs(network, batch=2, seed=ranks.rank)
    for _ in range(2):
        scheme.step(fed)
    return np.concatenate([p.value.numpy().ravel() for p in network.parameters])
"""


def test_exchanges_compressors_and_all_reduces_in_python_train(tmp_path):
    out = output_of_two(
        PARTS
        + """
rows = d5.check_collective("all-reduce", "tests-gathered")
assert {row.status for row in rows} == {"passed"}
usual = trained()
mine = trained(exchange="tests-dense", all_reduce="tests-gathered")
assert Gathered.calls > 0
assert np.array_equal(usual, mine)  # two terms have one sum
halves = trained(exchange={"name": "compressed", "compressor": "tests-halves", "error_feedback": False})
assert not np.array_equal(usual, halves) and np.allclose(usual, halves, atol=2e-3)
mixed = trained(scheme="consistent_neighbors", topology="tests-pair")
assert np.isfinite(mixed).all()
print("trained")
""",
        tmp_path,
    )
    assert out.count("trained") == 2


def test_calls_windows_decorators_and_events(tmp_path):
    out = output_of_two(
        PARTS
        + """
r = ranks.rank
mine = d5.Tensor(np.float32([r, r + 10]))
assert ranks.all_gather(mine).numpy().tolist() == [[0, 10], [1, 11]]
assert ranks.all_reduce(mine.copy(), "maximum").numpy().tolist() == [1, 11]
both = d5.Tensor(np.float32([[r], [r + 1]]))
assert ranks.reduce_scatter(both).numpy().tolist() == [[1 + 2 * r]]
assert ranks.all_to_all(both).numpy().tolist() == [[r], [r + 1]]
got = ranks.gather(mine, root=1)
assert (got is None) == (r == 0)
part = d5.Tensor(np.zeros(2, np.float32))
assert ranks.scatter(got, part, root=1).numpy().tolist() == [r, r + 10]
if r == 0:
    ranks.send(mine, 1, tag=3)
else:
    assert ranks.receive(part, -1, tag=3) == (0, 2)

heard = []
class Ear(d5.Event):
    def before_call(self, call):
        heard.append(("before", call.call, call.bytes_sent))
    def call_complete(self, call):
        assert call.seconds > 0
        heard.append(("complete", call.call, call.group))
ear = Ear()
ranks.add_event(ear)
ranks.all_reduce(part)
ranks.remove_event(ear)
ranks.barrier()
assert heard == [("before", "all_reduce", 8), ("complete", "all_reduce", "world")], heard

window = d5.MemoryWindow(ranks, 16)
ranks.barrier()
assert window.fetch_and_add(0, 0, 1) in (0, 1)
with window.lock(1):
    seen = window.get(d5.Tensor(np.zeros(1, np.int64)), 1, 8)
    seen.numpy()[0] += 1
    window.put(seen, 1, 8)
ranks.barrier()
if r == 1:
    assert window.local.numpy().view(np.int64)[1] == 2

watched = d5.with_call_order(d5.with_wire(ranks, "10us,1GB/s"))
assert "wire modelled" in watched.medium
try:
    if r == 0:
        watched.barrier()
    else:
        watched.all_reduce(part)
except d5.CommunicationError as error:
    assert "barrier" in str(error) and "all_reduce" in str(error)
    print("told")
data = d5.tensor_dataset({"x": np.arange(9, dtype=np.float32)})
sampler = d5.cut_sampler("tests-cut", data, r, 2, order="ordered", batch_size=2)
assert [b.values["x"].numpy().tolist() for b in sampler] == [[r, r + 2], [r + 4, r + 6]]
""",
        tmp_path,
    )
    assert out.count("told") == 2


def test_schedules_and_partitions_in_python():
    @d5.register
    class AllForwardFirst(d5.PipelineSchedule):
        def tasks(self, stage, stages, micro_batches):
            return [(way, m) for way in ("forward", "backward") for m in range(micro_batches)]

    mine, own = (d5.try_schedule(name, 2, 4) for name in ("all_forward_first", "gpipe"))
    assert (mine.time, mine.bubble, mine.most_in_flight) == (own.time, own.bubble, own.most_in_flight)

    @d5.register
    class Halves(d5.Partition):
        def cut(self, network, parts):
            nodes = len(network.nodes)
            return d5.cut_into_stages(network, [p * nodes // parts for p in range(parts)], batch=2)

    network = d5.model("lenet", seed=1)
    first, second = d5.partition(network, 2, "halves")
    assert first.sends == second.receives and len(first.sends) == 1
    assert len(first.network.nodes) + len(second.network.nodes) == len(network.nodes)
