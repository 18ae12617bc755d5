# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import d5


def bowl():
    """loss = w . w of a parameter w = (3, -4), whose gradient is 2 w."""
    network = d5.Network("bowl")
    network.add_parameter("w", np.array([3.0, -4.0]))
    network.add_node("Mul", ["w", "w"], ["square"])
    network.add_node("ReduceSum", ["square"], ["loss"], keepdims=0)
    network.add_output("loss")
    return d5.executor(network)


def w(optimizer):
    return optimizer.network.parameters[0].value.numpy().copy()


def test_schedules_are_keywords():
    optimizer = d5.optimizer(
        "sgd",
        bowl(),
        learning_rate=0.25,
        schedules={"learning_rate": {"name": "multi_step", "at": [1, 2], "factor": 0.5}},
    )
    for rate in (0.25, 0.125, 0.0625):
        before = w(optimizer)
        optimizer.step({})
        assert optimizer.hyper_parameters["learning_rate"] == rate
        np.testing.assert_array_equal(w(optimizer), before - rate * 2 * before)


def test_modifiers_are_names_dicts_and_objects():
    class Halve(d5.StepModifier):
        name = "halve"

        def __init__(self):
            self.losses = []

        def gradients_final(self, optimizer, factor):
            for parameter in optimizer.network.parameters:
                parameter.gradient.numpy()[...] /= 2

        def after_step(self, optimizer, outputs):
            self.losses.append(float(outputs["loss"].numpy()))

    halve = Halve()
    optimizer = d5.optimizer(
        "sgd",
        bowl(),
        learning_rate=1,
        modifiers=["ema", halve, {"name": "clip_norm", "most": 2.5}],
    )
    optimizer.step({})
    # 2 w has the norm 10, half of it 5, clipped 2.5: that of w is 5.
    np.testing.assert_allclose(w(optimizer), [1.5, -2.0], rtol=1e-15)
    assert halve.losses == [25.0]


def test_gradients_are_read_before_they_are_clipped():
    optimizer = d5.optimizer("sgd", bowl(), modifiers={"name": "clip_norm", "most": 1})
    seen = []
    optimizer.read_gradients(lambda name, gradient, factor: seen.append((name, factor * gradient.numpy())))
    optimizer.step({})
    (name, gradient), = seen
    assert name == "w"
    np.testing.assert_array_equal(gradient, [6.0, -8.0])
    optimizer.read_gradients(None)
    optimizer.step({})
    assert len(seen) == 1

    def fails(name, gradient, factor):
        raise OSError("disk full")

    optimizer.read_gradients(fails)
    with pytest.raises(OSError, match="disk full"):
        optimizer.step({})


def test_a_modifier_in_python_refuses_steps_and_sets_numbers():
    class Picky(d5.StepModifier):
        def before_step(self, optimizer, epoch):
            optimizer.set_hyper_parameter("learning_rate", 0.5)

        def gradients_final(self, optimizer, factor):
            return optimizer.refused_steps > 0

    optimizer = d5.optimizer("sgd", bowl(), modifiers=[Picky()])
    optimizer.step({})
    np.testing.assert_array_equal(w(optimizer), [3.0, -4.0])
    assert optimizer.refused_steps == 1
    optimizer.step({})
    np.testing.assert_array_equal(w(optimizer), [0.0, 0.0])


def test_a_modifier_in_python_keeps_its_state_across_a_checkpoint(tmp_path):
    class Counter(d5.StepModifier):
        name = "counter"

        def __init__(self):
            self.steps = 0

        def after_step(self, optimizer, outputs):
            self.steps += 1

        def state(self):
            return {"steps": np.array(self.steps)}

        def restore(self, state):
            self.steps = int(state["steps"].numpy())

    def run(batches, resume=None):
        counter = Counter()
        executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
        data = d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=8, seed=1)
        optimizer = d5.optimizer("adam", executor, modifiers=[counter, "lookahead"])
        file = str(tmp_path / "run")
        trainer = d5.Trainer(optimizer, data, most_batches=batches, checkpoint=file)
        if resume:
            trainer.resume(resume)
        trainer.run()
        return counter.steps, [p.value.numpy().copy() for p in executor.network.parameters]

    steps, whole = run(7)
    run(3)
    rest_steps, rest = run(7, resume=str(tmp_path / "run"))
    assert steps == rest_steps == 7
    for expected, given in zip(whole, rest):
        np.testing.assert_array_equal(given, expected)


def test_what_is_no_modifier_is_refused():
    with pytest.raises(TypeError, match="StepModifier"):
        d5.optimizer("sgd", bowl(), modifiers=[3])
    with pytest.raises(d5.NotFound, match="clip_norm"):
        d5.optimizer("sgd", bowl(), modifiers="clip_nrm")
    with pytest.raises(d5.NotFound, match="learning_rate"):
        d5.optimizer("sgd", bowl(), schedules={"rate": "linear"})
    assert "cosine" in d5.schedules()
    assert "sam" in d5.step_modifiers()
