# SPDX-License-Identifier: Apache-2.0
"""Messages of wrong calls say the way out, in one line."""

import numpy as np
import pytest
from rank_jobs import alone

import d5


@d5.operator("OfOtherShape", domain="tests")
class OfOtherShape(d5.Operator):
    def forward(self, context):
        context.output(0).numpy()[...] = np.zeros((7, 9))


class Silent(d5.Event):
    def after_batch(self, trainer, batch, outputs):
        pass


def lenet(**options):
    return d5.executor(d5.model("lenet", with_loss=True), **options)


def trainer():
    data = d5.subset(d5.dataset("mnist", subset="sample").train, list(range(4)))
    return d5.Trainer(d5.optimizer("sgd", lenet()), d5.sampler("ordered", data, batch_size=2))


def wrong_optimizer():
    torch = pytest.importorskip("torch")
    return d5.optimizer(torch.optim.SGD, lenet(), lr=0.1)


def wrong_option_of_torch():
    torch = pytest.importorskip("torch")
    import d5.torch as d5torch

    return d5torch.Optimizer(torch.optim.SGD, lr=0.5)


def module_for_network():
    torch = pytest.importorskip("torch")
    return d5.executor(torch.nn.Linear(2, 2))


def array_for_tensor():
    torch = pytest.importorskip("torch")
    import d5.torch as d5torch

    return d5torch.network(torch.nn.Linear(2, 2), np.zeros((1, 2), np.float32))


IMAGE = np.zeros((1, 1, 28, 28), np.float32)
CALLS = {
    "learning rate": (lambda: d5.optimizer("adam", lenet(), lr=0.1), "lr.*did you mean learning_rate"),
    "optimizer of torch": (wrong_optimizer, r"d5.torch.Optimizer\(torch.optim.SGD, learning_rate="),
    "its learning rate": (wrong_option_of_torch, r"Optimizer\(SGD\) has no keyword 'lr'; did you mean 'learning_rate'"),
    "module": (module_for_network, r"expected Network; d5.torch.network\(module, example\)"),
    "array for a tensor": (array_for_tensor, r"expected a tensor of torch; torch.from_numpy\(array\)"),
    "pair of data sets": (lambda: d5.sampler("shuffle", d5.dataset("mnist")), "expected Dataset; .*give its .train"),  # type: ignore[arg-type]
    "event's class": (lambda: trainer().add_event(Silent), r"the event is .*Silent.*, a class; expected an object of it: Silent\(\)"),
    "event's function": (lambda: trainer().add_event(lambda *told: None), "a function; expected an object of a class derived from d5.Event"),
    "executor's event": (lambda: lenet().add_event(Silent), "a class; expected an object of it"),
    "communicator's event": (lambda: d5.world().add_event(Silent), "a class; expected an object of it"),
    "list": (lambda: lenet().inference({"image": IMAGE.tolist()}), r"sequence.* was fed; np.asarray\(x, np.float32\) makes it so"),
    "type": (lambda: lenet().inference({"image": IMAGE.astype(float)}), r"float64 .* was fed; np.asarray\(x, np.float32\)"),
    "device": (lambda: d5.train("mnist-lenet-quick", device="gpu"), "device 'gpu' is unknown; did you mean cuda"),
    "one event": (lambda: d5.train("mnist-lenet-quick", events=d5.LiveCurves()), r"events is .*LiveCurves.*, expected a list: events=\[...\]"),
    "array to be written": (lambda: d5.world().all_reduce(np.zeros(6)[::2]), r"not dense in row-major order.*np.ascontiguousarray\(array\)"),
}


@alone("every rank would do the same")
@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call_says_the_way_out(what):
    call, text = CALLS[what]
    with pytest.raises((d5.Error, TypeError), match=text) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_an_unknown_attribute_is_answered_with_the_nearest():
    executor = lenet()
    with pytest.raises(AttributeError, match="d5.GraphExecutor has no attribute 'netwrk'; did you mean 'network'"):
        executor.netwrk
    assert not hasattr(executor, "netwrk") and getattr(executor, "other", 3) == 3


def test_a_hook_that_does_not_take_its_arguments_is_refused():
    with pytest.raises(d5.TypeError, match=r"class Few: after_batch takes \(self, batch\), and d5.Event calls after_batch\(self, trainer, batch, outputs\)"):

        class Few(d5.Event):
            def after_batch(self, batch):
                pass

    class All(d5.Event):
        def after_batch(self, *told, **more):
            pass


def test_the_reason_of_a_failed_operator_is_one_line_without_the_stack():
    rows = d5.check_operator("tests.OfOtherShape 2x3")
    reason = rows.where(status="failed")[0].reason
    assert reason.startswith("ValueError: could not broadcast") and "test_ways_out.py:" in reason
    assert "\n" not in reason and "_words.py" not in reason and "_isolation.py" not in reason


def test_a_long_array_in_a_message_is_one_short_line():
    class Answers(d5.Event):
        def wants_stop(self):
            return np.zeros((50, 50))

    training = trainer()
    training.add_event(Answers())
    with pytest.raises(d5.TypeError, match=r"Answers\.wants_stop\(\) gave array") as raised:
        training.run()
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 200


def test_collectives_that_read_take_arrays():
    ranks = d5.world()
    mine = np.full(2, ranks.rank, np.float32)
    gathered = ranks.all_gather(mine).numpy()
    assert gathered.tolist() == [[rank, rank] for rank in range(ranks.size)]
    with pytest.raises(d5.TypeError):
        ranks.all_gather(3)  # type: ignore[arg-type]


def test_collectives_change_arrays_in_place():
    ranks = d5.world()
    total = sum(range(ranks.size))
    mine, into = np.full(2, ranks.rank, np.float32), np.full((ranks.size, 2), -1, np.float32)
    assert ranks.all_gather(mine, into).numpy().ctypes.data == into.ctypes.data
    assert into.tolist() == [[rank, rank] for rank in range(ranks.size)]
    ranks.all_reduce(mine)
    assert mine.tolist() == [total, total]
    started = np.full(2, ranks.rank, np.float32)
    ranks.start_all_reduce(started).wait()
    assert started.tolist() == [total, total]
    sent = np.full(2, ranks.rank + 5, np.float32)
    ranks.broadcast(sent)
    assert sent.tolist() == [5, 5]
