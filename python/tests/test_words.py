# SPDX-License-Identifier: Apache-2.0
"""The program's words in the module, and the errors of wrong words."""

import builtins
import inspect
import re
from typing import Any

import call_walk
import numpy as np
import pytest

import d5


def test_a_model_is_a_file_too(tmp_path):
    network = d5.model("lenet", seed=1)
    network.save(tmp_path / "m.onnx")
    for word in (tmp_path / "m.onnx", str(tmp_path / "m.onnx")):
        assert [node.op_type for node in d5.model(word).nodes] == [node.op_type for node in network.nodes]
    assert d5.model("Gemm 4x8 8x2").nodes[0].op_type == "Gemm"
    with pytest.raises(d5.NotFound, match="lenet"):
        d5.model("lenett")
    with pytest.raises(d5.Error, match="absent.onnx"):
        d5.model("absent.onnx")
    with pytest.raises(d5.Error, match="sed"):
        d5.model(tmp_path / "m.onnx", sed=1)


def test_frameworks_are_a_word_words_or_a_list():
    network = d5.model("lenet")
    for how in ({"framework": "reference"}, {"frameworks": "reference"}, {"frameworks": ["reference"]}):
        assert d5.executor(network, **how).framework == "reference"
    assert d5.executor(network, "reference").framework == "reference"
    rows = d5.check_operator("Relu 4", framework="reference")  # type: ignore[call-arg]
    assert rows and {row.status for row in rows} <= {"passed", "skipped"}


def test_a_wrong_keyword_is_told_the_nearest():
    network = d5.model("lenet")
    with pytest.raises(d5.TypeError, match="d5.executor has no keyword 'framworks'; did you mean 'frameworks'"):
        d5.executor(network, framworks=["reference"])  # type: ignore[call-arg]
    optimizer = d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)))
    data = d5.sampler("ordered", d5.tensor_dataset({"x": np.zeros(4, np.float32)}))
    with pytest.raises(d5.TypeError, match="d5.Trainer has no keyword 'epoch'; did you mean 'epochs'"):
        d5.Trainer(optimizer, data, epoch=3)  # type: ignore[call-arg]
    with pytest.raises(d5.TypeError, match="d5.Network.save has no keyword 'external'; did you mean 'external_data'"):
        network.save("m.onnx", external=True)  # type: ignore[call-arg]
    with pytest.raises(d5.TypeError, match="d5.bench has no keyword 'sample'; did you mean 'samples'"):
        d5.bench("Relu 4", sample=3)  # type: ignore[call-arg]


def test_a_wrong_call_is_told_in_one_line():
    with pytest.raises(d5.TypeError, match=r"d5.executor lacks 'network'; expected d5.executor\(network: Network") as told:
        d5.executor(seed=3)  # type: ignore[call-arg]
    assert "\n" not in str(told.value)
    with pytest.raises(d5.TypeError, match="^d5.executor: network is 3, expected Network$"):
        d5.executor(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):  # d5's are Python's
        d5.executor()  # type: ignore[call-arg]


untyped: Any = d5  # for calls that type checkers refuse
WRONG = {
    "method": (lambda: untyped.model("lenet").add_output(3), "d5.Network.add_output: name is 3, expected str"),
    "static": (lambda: untyped.Network.load(3), "d5.Network.load: path is 3, expected PathLike | str | bytes"),
    "list": (lambda: untyped.bench("Relu 4", frameworks=["torch", 3]), r"d5.bench: frameworks is \['torch', 3\], expected Sequence\[str\]"),
    "number": (lambda: untyped.set_threads("two"), "d5.set_threads: count is 'two', expected int"),
    "places": (lambda: untyped.set_threads(1, 2), "d5.set_threads: 2 arguments without a name, expected at most 1"),
    "setter": (lambda: setattr(untyped.Measurement(), "samples", 3), r"d5.Measurement.samples: value is 3, expected Sequence\[float\]"),
    "overloads": (lambda: untyped.model("lenet").nodes[None], r"d5.Nodes\[\] was given \(NoneType\); expected d5.Nodes\[\]\(index: int\) or "),
    "python": (lambda: untyped.calibrate(3), "d5.calibrate: name is 3, expected str"),
    "lacks": (lambda: untyped.op.compile(), r"d5.op.compile lacks 'source'; expected d5.op.compile\(source: str \| PathLike"),
    "client": (lambda: untyped.Client(3), "d5.Client: address is 3, expected str"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_argument_of_another_type_is_named(name):
    if (name == "python" and "prediction" in d5._d5._left_out()) or (name == "client" and "serving" in d5._d5._left_out()):
        pytest.skip("left out of this d5")
    call, text = WRONG[name]
    with pytest.raises(d5.TypeError, match=text) as told:
        call()
    assert "\n" not in str(told.value) and "Invoked with" not in str(told.value)


QUICK = {"Tensor": ["numpy"], "OpContext": ["input", "output"], "GradContext": ["grad_output", "grad_input", "wants_grad"]}


@pytest.mark.parametrize("made", QUICK)
def test_what_operators_call_for_each_array_has_no_wrapper(made):
    for name in QUICK[made]:
        method = getattr(getattr(d5, made), name)
        assert not inspect.isfunction(method)
        assert (method.__doc__ or "").startswith(f"{name}(self: d5._d5.{made}")
        with pytest.raises(d5.TypeError, match=rf"^d5.{made}.{name} was given \(\); expected|^d5.{made}.{name} lacks 'index'"):
            method()


def test_a_wrong_call_without_a_wrapper_is_told_in_one_line():
    tensor: Any = d5.Tensor(np.zeros(2, np.float32))
    with pytest.raises(d5.TypeError, match="^d5.Tensor.numpy has no keyword 'copy'; it takes none$") as told:
        tensor.numpy(copy=True)
    assert told.value.__cause__ is None and told.value.__context__ is None  # not pybind11's error
    with pytest.raises(d5.TypeError, match="^d5.Tensor.numpy: 1 arguments without a name, expected at most 0$"):
        tensor.numpy(3)
    assert tensor.numpy().shape == (2,)


def test_an_error_within_a_method_stays_as_it_is():
    error = builtins.TypeError("the array has no such type")
    with pytest.raises(builtins.TypeError) as told:
        d5._words.explain(d5.Tensor, "numpy", error, (), {})
    assert told.value is error


def test_functions_keep_their_names_and_help():
    assert d5.executor.__name__ == "executor" and "frameworks" in (d5.executor.__doc__ or "")


def test_every_function_has_a_signature():
    functions = {name: one for name, one in vars(d5).items() if inspect.isroutine(one) and not name.startswith("_")}
    assert len(functions) > 150
    for name, one in functions.items():
        assert inspect.signature(one), name
    assert inspect.signature(d5.executor).parameters["frameworks"].default == ["reference"]
    assert str(inspect.signature(d5.set_threads)).startswith("(count")


def test_a_star_import_leaves_pythons_names_alone():
    space = {}
    exec("from d5 import *", space)
    assert "executor" in space and "UnknownOption" in space
    assert not [name for name in space if hasattr(builtins, name) and name != "__builtins__" and not name.startswith("__")]
    assert all(hasattr(d5, name) for name in vars(d5)["__all__"])


def test_a_framework_is_a_word_or_a_list_everywhere():
    inputs = d5.random_inputs(d5.model("lenet"))
    for how in ({"framework": "reference"}, {"frameworks": ["reference"]}, {"framework": ["reference"]}, {"frameworks": "reference"}):
        assert d5.run_network("lenet", inputs, **how)
        assert d5.test_forward("Relu 4", **how)
        assert d5.bench("Relu 4", samples=3, **how)


def test_framework_and_frameworks_are_one_word_of_every_function():
    found = []
    for subject in call_walk.subjects([]):
        names = {one.name for one in subject.parameters}
        if not names & {"framework", "frameworks"} or subject.own:
            continue
        needed = [one.name for one in subject.parameters if one.needed and not one.is_mark and not one.takes_all]
        wrong = {name: call_walk.Stranger() for name in needed if name not in ("framework", "frameworks")}
        if not wrong:
            continue
        found.append(subject.who)
        for word in ("framework", "frameworks"):
            for value in ("reference", ["reference"], ("reference",)):
                with pytest.raises(d5.TypeError) as told:  # the stranger is refused, the word is not
                    subject.call(**wrong, **{word: value})
                assert "<stranger>" in str(told.value) and "framework" not in str(told.value), subject.who
    assert len(found) > 10, found


def test_every_object_shows_more_than_its_address():
    lacking = [
        name
        for name, made in vars(d5._d5).items()
        if isinstance(made, type) and not issubclass(made, BaseException) and made.__repr__ is object.__repr__
    ]
    assert lacking == []
    network = d5.model("lenet", with_loss=True)
    for one in (d5.executor(network), d5.optimizer("sgd", d5.executor(network)), d5.devices, d5.dataset("mnist").train):
        assert " at 0x" not in repr(one) or inspect.isroutine(one), repr(one)


EMPTY = {
    "d5.bench: frameworks is [], expected one or more names": lambda: d5.bench("Relu 4", frameworks=[]),
    "d5.bench: frameworks is (), expected one or more names": lambda: untyped.bench("Relu 4", framework=()),
    "d5.bench: metrics is [], expected one or more names": lambda: d5.bench("Relu 4", metrics=[], isolate=5),
    "d5.bench_network: batch is [], expected one or more numbers": lambda: d5.bench_network("lenet", batch=[]),
    "d5.bench_network: frameworks is [], expected one or more names": lambda: d5.bench_network("lenet", frameworks=[]),
    "d5.check_operator: frameworks is [], expected one or more names": lambda: d5.check_operator("Relu 4", frameworks=[]),
    "d5.check_network: frameworks is [], expected one or more names": lambda: d5.check_network("lenet", frameworks=[]),
    "d5.executor: frameworks is [], expected one or more names": lambda: d5.executor(d5.model("lenet"), []),
    "d5.test_forward: framework is [], expected one or more names": lambda: untyped.test_forward("Relu 4", framework=[]),
    "d5.measure: run is {}, expected one or more functions by name": lambda: d5.measure({}),
    "d5.repeat_trainings: trainings is {}, expected one or more functions by name": lambda: d5.repeat_trainings({}, runs=2),
    "d5.profile: batches is [], expected one or more numbers": lambda: untyped.profile("lenet", []),
    "d5.scale: ranks is [], expected one or more numbers": lambda: d5.scale("mnist-lenet-quick", ranks=[]),
    "test_sampler: 0 epochs, expected 1 or more": lambda: d5.test_sampler("shuffle", d5.tensor_dataset({"x": np.zeros(4, np.float32)}), epochs=0),
    "check_operator: repeats is -5, expected 0 or more": lambda: d5.check_operator("Relu 4", repeats=-5),
    "check_operator: reduce_seconds is nan, expected seconds above 0": lambda: d5.check_operator("Relu 4", reduce_seconds=float("nan")),
}


@pytest.mark.parametrize("text", EMPTY)
def test_nothing_to_do_is_refused(text):
    if "profile" in text and "prediction" in d5._d5._left_out():
        pytest.skip("left out of this d5")
    with pytest.raises(d5.ValueError, match=f"^{re.escape(text)}$"):
        EMPTY[text]()


def test_lists_that_may_be_empty_are():
    assert d5.bench_network("lenet", samples=3, transforms=[], placement=[])
    assert d5.executor(d5.model("lenet"), "reference", gradients=[]).framework == "reference"


NEGATIVE = {
    "d5.bench: seed is -1, expected an integer of 0 or more": lambda: d5.bench("Relu 4", seed=-1),
    "d5.executor: memory_limit is -5, expected an integer of 0 or more": lambda: d5.executor(d5.model("lenet"), memory_limit=-5),
    "d5.Recipe.with_seed: seed is -1, expected an integer of 0 or more": lambda: untyped.Recipe(
        {"name": "mine", "fixed": {"dataset": {"name": "mnist"}, "model": {"name": "lenet"}}, "mutable": {"optimizer": {"name": "adam"}, "training": {"epochs": 1, "seed": 1}}}
    ).with_seed(-1),
}


@pytest.mark.parametrize("text", NEGATIVE)
def test_a_negative_number_is_named(text):
    with pytest.raises(d5.TypeError, match=f"^{re.escape(text)}$"):
        NEGATIVE[text]()


def test_framework_and_frameworks_exclude_each_other():
    calls: list[Any] = [d5.bench, d5.test_forward, d5.check_operator]
    for call in calls:
        with pytest.raises(d5.TypeError, match=f"^d5.{call.__name__}: framework and frameworks are one keyword; give one of them$"):
            call("Relu 4", framework="torch", frameworks="reference")
    with pytest.raises(d5.TypeError, match="are one keyword"):
        untyped.evaluate("lenet", framework="torch", frameworks="reference")
