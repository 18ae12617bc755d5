# SPDX-License-Identifier: Apache-2.0
import os
import signal

import numpy as np
import pytest

import d5


def mnist_trainer(optimizer_for, **options):
    mnist = d5.dataset("mnist")
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    optimizer = optimizer_for(executor)
    train = d5.sampler("shuffle", mnist.train, batch_size=32, seed=1)
    test = d5.sampler("ordered", mnist.test, batch_size=500)
    return executor, d5.Trainer(optimizer, train, test, **options)


def test_lenet_learns_mnist_in_one_epoch_of_the_sample():
    _, trainer = mnist_trainer(lambda e: d5.optimizer("momentum", e, learning_rate=0.02), epochs=1)
    accuracy = d5.training_metric("test_accuracy")
    trainer.add_event(accuracy)
    trainer.run()
    # Guessing gives 0.1; one pass over 6,000 images gives above 0.9 with any seed tried.
    assert accuracy.value > 0.85


def test_an_optimizer_in_python_does_what_the_one_in_c_plus_plus_does():
    class Sgd(d5.Optimizer):
        def update_rule(self, gradient, parameter, index):
            parameter.value.numpy()[...] -= np.float32(0.05) * gradient.numpy()

    def weights(make):
        executor, trainer = mnist_trainer(make, most_batches=5)
        trainer.run()
        return {p.name: p.value.numpy().copy() for p in executor.network.parameters}

    python = weights(lambda e: d5.optimizer(Sgd(), e))
    native = weights(lambda e: d5.optimizer("sgd", e, learning_rate=0.05))
    for name, value in native.items():
        # one rounding more or less a step (fused multiply-add)
        np.testing.assert_allclose(python[name], value, rtol=1e-5, atol=1e-6)


def test_an_event_in_python_stops_training():
    class StopAfter(d5.Event):
        batches = 0

        def after_batch(self, trainer, batch, outputs):
            self.batches += 1
            assert np.isfinite(outputs["loss"].item())

        def wants_stop(self):
            return self.batches == 3

    event = StopAfter()
    _, trainer = mnist_trainer(lambda e: d5.optimizer("adam", e), epochs=1)
    trainer.add_event(event)
    trainer.run()
    assert event.batches == 3 and trainer.step == 3


def test_ctrl_c_ends_training_as_python_s_keyboard_interrupt():
    class CtrlC(d5.Event):
        def before_batch(self, trainer, batch):
            if trainer.step == 2:
                os.kill(os.getpid(), signal.SIGINT)

    _, trainer = mnist_trainer(lambda e: d5.optimizer("sgd", e), epochs=1000)
    trainer.add_event(CtrlC())
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    # 1000 epochs have tens of thousands; the request comes from another thread, a batch later or so.
    assert 2 <= trainer.step < 200
    handler = signal.getsignal(signal.SIGINT)
    assert handler is signal.default_int_handler


def test_a_misspelt_option_is_answered_with_the_nearest():
    executor = d5.executor(d5.model("lenet", with_loss=True))
    with pytest.raises(d5.NotFound, match="learning_rate"):
        d5.optimizer("sgd", executor, learning_rat=0.1)


def test_a_measurement_of_a_python_callable():
    (time,) = d5.measure(lambda: sum(range(1000)), name="sum", samples=30)
    low, high = time.interval
    assert time.status in ("passed", "mistrusted") and low <= time.median <= high and low > 0
    assert "sum" in d5.to_table([time])


def test_a_gradient_check_from_python():
    assert all(row.status == "passed" for row in d5.test_gradient("Gemm 3x4 4x2"))
