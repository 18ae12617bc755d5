# SPDX-License-Identifier: Apache-2.0
"""What is lent for a time is an error when it is touched after it."""

import numpy as np
import pytest

import d5


def expect_over(lent):
    for touch in (lambda: lent.numpy(), lambda: np.asarray(lent), lambda: lent[0], lambda: d5.Tensor(lent).numpy()):
        with pytest.raises(d5.ValueError, match="lent by .* used again"):
            touch()


def test_a_batch_is_good_until_the_next():
    data = d5.tensor_dataset({"x": np.arange(6, dtype=np.float32)})
    sampler = d5.sampler("ordered", data, batch_size=2)
    first = sampler.next()
    x, kept = first.values["x"], first.values["x"].copy()
    assert x.numpy().tolist() == [0, 1]
    sampler.next()
    expect_over(x)
    with pytest.raises(d5.ValueError, match="until its next batch"):
        first.size
    assert kept.numpy().tolist() == [0, 1]
    last = sampler.next()
    sampler.reset(1)
    with pytest.raises(d5.ValueError, match="lent"):
        last.values


def test_outputs_that_are_not_copied_are_good_until_the_next_run():
    executor = d5.executor(d5.model("lenet", seed=1))
    images = np.zeros((2, 1, 28, 28), np.float32)
    (lent,) = executor.inference({"image": images}, copy=False).values()
    (kept,) = executor.inference({"image": images}).values()
    expect_over(lent)
    executor.inference({"image": images})
    assert np.isfinite(kept).all()


def of_one_node(operator, domain, framework="reference"):
    network = d5.Network("one")
    network.add_input("x", "float32", ["N", 3])
    network.add_parameter("w", np.ones(3, np.float32))
    network.add_node("Mul", ["x", "w"], ["m"])
    network.add_node(operator, ["m"], ["y"], domain=domain)
    network.add_node("Mul", ["y", "w"], ["z"])
    network.add_node("ReduceSum", ["z"], ["loss"], keepdims=0)
    network.add_output("loss")
    return d5.executor(network, framework)


def test_an_operator_may_not_write_to_what_it_reads():
    @d5.operator("Doubling", domain="test.lent")
    class Doubling(d5.Operator):
        def forward(self, context):
            x = context.input(0).numpy()
            with pytest.raises(ValueError, match="read-only"):
                x *= 2
            with pytest.raises(d5.TypeError, match="read-only"):
                context.input(0).copy_from(x)
            context.output(0).numpy()[...] = 2 * x

        def backward(self, context):
            for read in (context.input(0), context.output(0), context.grad_output(0)):
                with pytest.raises(ValueError, match="read-only"):
                    read.numpy()[...] = 0
            context.grad_input(0).numpy()[...] = 2 * context.grad_output(0).numpy()

    x = np.ones((2, 3), np.float32)
    executor = of_one_node("Doubling", "test.lent")
    outputs = executor.inference_and_backprop({"x": x}, "loss")
    assert outputs["loss"].item() == 12 and (x == 1).all()


def test_an_operator_that_writes_to_a_read_only_array_is_an_error(tmp_path):
    @d5.operator("Writing", domain="test.lent")
    class Writing(d5.Operator):
        def forward(self, context):
            x = context.input(0).numpy()
            x *= 2

    network = d5.Network("one")
    network.add_input("x", "float32", ["N", 3])
    network.add_node("Writing", ["x"], ["y"], domain="test.lent")
    network.add_output("y")
    np.save(tmp_path / "x.npy", np.ones((1000, 3), np.float32))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="read-only"):
        d5.executor(network).inference({"x": x})


def test_kernels_and_executors_in_python_may_not_write_to_what_they_read():
    def expect_read_only(*values):
        for value in values:
            with pytest.raises(ValueError, match="read-only"):
                value.numpy()[...] = 0

    class Relu(d5.Kernel):
        def forward(self, inputs):
            expect_read_only(*inputs)
            return np.maximum(inputs[0], 0)

        def backward(self, inputs, outputs, output_gradients):
            expect_read_only(*inputs, *outputs, *output_gradients)
            return np.where(inputs[0].numpy() > 0, output_gradients[0], np.float32(0))

    @d5.register
    class Lent(d5.Framework):
        name = "tests-lent"
        version = "1"
        kernels = {"Relu": Relu}

    x = np.ones((2, 3), np.float32)
    executor = of_one_node("Relu", "", ["tests-lent", "reference"])
    assert executor.inference_and_backprop({"x": x}, "loss")["loss"].item() == 6

    class Whole(d5.GraphExecutor):
        def inference(self, inputs):
            expect_read_only(*inputs.values())
            return {"loss": np.float32(3)}

    assert d5.GraphExecutor.inference(Whole(executor.network), {"x": x})["loss"].item() == 3


def test_jax_reads_what_a_kernel_is_lent():
    jax = pytest.importorskip("jax")

    @d5.operator("ByJax", domain="test.lent")
    class ByJax(d5.Operator):
        def forward(self, context):
            context.output(0).numpy()[...] = 2 * jax.dlpack.from_dlpack(context.input(0))

        def backward(self, context):
            context.grad_input(0).numpy()[...] = 2 * jax.dlpack.from_dlpack(context.grad_output(0))

    executor = of_one_node("ByJax", "test.lent")
    assert executor.inference({"x": np.ones((2, 3), np.float32)})["loss"].item() == 12


def test_an_operators_context_and_its_tensors_end_with_the_call():
    kept = []

    @d5.operator("Keeper", domain="test.lent")
    class Keeper(d5.Operator):
        def infer(self, context):
            kept.append(context)
            return [(context.dtype(0), context.shape(0))]

        def forward(self, context):
            kept.extend([context, context.input(0)])
            context.output(0).numpy()[...] = context.input(0)

    network = d5.Network("keeper")
    network.add_input("x", "float32", [2])
    network.add_node("Keeper", ["x"], ["y"], domain="test.lent")
    network.add_output("y")
    assert d5.executor(network).inference({"x": np.ones(2, np.float32)})["y"].numpy().tolist() == [1, 1]
    infer, forward, tensor = kept[0], kept[-2], kept[-1]
    with pytest.raises(d5.ValueError, match="an operator's call"):
        infer.shape(0)
    with pytest.raises(d5.ValueError, match="an operator's call"):
        forward.input(0)
    expect_over(tensor)


def test_a_kernels_inputs_end_with_the_call():
    kept = []

    class Relu(d5.Kernel):
        def __init__(self, plan):
            pass

        def forward(self, inputs):
            kept.append(inputs[0])
            return np.maximum(inputs[0], 0)

    @d5.register
    class Lending(d5.Framework):
        name, version = "test-lending", "1"
        kernels = {"Relu": Relu}

    network = d5.Network("relu")
    network.add_input("x", "float32", [2])
    network.add_node("Relu", ["x"], ["y"])
    network.add_output("y")
    d5.executor(network, ["test-lending"]).inference({"x": np.ones(2, np.float32)})
    expect_over(kept[-1])


class Keeping(d5.Event):
    def __init__(self):
        self.steps, self.batches, self.outputs = [], [], []

    def before_node(self, step):
        self.steps.append(step)

    def before_batch(self, trainer, batch):
        self.batch = batch

    def after_batch(self, trainer, batch, outputs):
        assert self.batch.size == batch.size  # still the same one
        self.batches.append(batch)
        self.outputs.append(outputs["loss"])


def test_what_hooks_are_given_ends_with_them():
    keeping = Keeping()
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    sampler = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=4)
    trainer = d5.Trainer(d5.optimizer("sgd", executor), sampler, most_batches=2)
    trainer.add_event(keeping)
    trainer.run()
    assert len(keeping.batches) == 2
    for lent in (*keeping.batches, *keeping.steps[:2]):
        with pytest.raises(d5.ValueError, match="lent"):
            repr(lent.size if isinstance(lent, d5.Batch) else lent.node)
    expect_over(keeping.outputs[0])


def test_a_trainer_is_not_run_from_its_own_hooks():
    refused = []

    class Again(d5.Event):
        def after_batch(self, trainer, batch, outputs):
            for call in (trainer.run, lambda: trainer.resume("nowhere")):
                with pytest.raises(d5.ValueError, match="own hooks"):
                    call()
                refused.append(call)

    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    sampler = d5.sampler("ordered", d5.dataset("mnist").train, batch_size=4)
    trainer = d5.Trainer(d5.optimizer("sgd", executor), sampler, most_batches=1)
    trainer.add_event(Again())
    trainer.run()
    assert len(refused) == 2
    trainer.run()  # and again after it
