# SPDX-License-Identifier: Apache-2.0
"""Messages of wrong calls say the way out, in one line."""

import numpy as np
import pytest
from rank_jobs import alone

import d5


def lenet(**options):
    return d5.executor(d5.model("lenet", with_loss=True), **options)


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


CALLS = {
    "its learning rate": (wrong_option_of_torch, r"Optimizer\(SGD\) has no keyword 'lr'.*[Ii]t takes learning_rate"),
    "module": (module_for_network, r"expected Network; d5.torch.network\(module, example\)"),
    "array for a tensor": (array_for_tensor, r"expected a tensor of torch; torch.from_numpy\(array\)"),
    "pair of data sets": (lambda: d5.sampler("shuffle", d5.dataset("mnist")), "expected Dataset; .*give its .train"),
    "array to be written": (lambda: d5.world().all_reduce(np.zeros(3)), r"expected Tensor; d5.Tensor\(array\)"),
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
