# SPDX-License-Identifier: Apache-2.0
"""Names that there are not: keywords, attributes, hooks, operators, fields are refused with the nearest."""

import re

import numpy as np
import pytest

import d5


@d5.operator("Scaled", domain="tests")
class Scaled(d5.Operator):
    def __init__(self, factor: float = 1.0, twice: bool = False, shift: int = 0):
        self.factor, self.twice, self.shift = factor, twice, shift

    def forward(self, context):
        context.output(0).numpy()[...] = self.factor * (2 if self.twice else 1) * context.input(0).numpy() + self.shift

    def backward(self, context):
        context.grad_input(0).numpy()[...] = self.factor * (2 if self.twice else 1) * context.grad_output(0).numpy()


@d5.operator("Plain", domain="tests")
class Plain(d5.Operator):
    def forward(self, context):
        context.output(0).copy_from(context.input(0))


@d5.operator("Reading", domain="tests")
class Reading(d5.Operator):
    def forward(self, context):
        context.output(0).numpy()[...] = context.input(0).numpy() * self.attributes.get("factor", 1)


@d5.operator("Needing", domain="tests")
class Needing(d5.Operator):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, context):
        context.output(0).numpy()[...] = context.input(0).numpy() * self.factor


def run(op, **attributes):
    network = d5.Network("one")
    network.add_input("x", "float32", [2])
    network.add_node(op, ["x"], ["y"], domain="tests", **attributes)
    network.add_output("y")
    return d5.executor(network).inference({"x": np.array([1, 2], np.float32)})["y"].numpy().tolist()


def test_attributes_of_a_node_are_keywords_of_its_class():
    assert run("Scaled") == [1, 2]
    assert run("Scaled", factor=3, twice=1, shift=1) == [7, 13]
    assert run("Needing", factor=2) == [2, 4] and run("Reading", factor=2) == [2, 4]
    assert {row.status for row in d5.check_operator("tests.Scaled {1,2} factor=3 twice=1 -> {6,12}")} == {"passed"}


@pytest.mark.parametrize(
    "op, attributes, text",
    [
        ("Scaled", {"facter": 3.0}, "operator Scaled has no attribute 'facter'; did you mean 'factor'"),
        ("Plain", {"factor": 3.0}, "operator Plain has no attribute 'factor'; it takes none"),
        ("Needing", {}, "operator Needing lacks the attribute 'factor'"),
        ("Scaled", {"shift": 1.5}, "attribute 'shift' is 1.5, expected a int, like its default 0"),
        ("Scaled", {"twice": 2}, "attribute 'twice' is 2, expected a bool"),
    ],
)
def test_attributes_that_a_class_does_not_take_are_refused(op, attributes, text):
    with pytest.raises(TypeError, match=text):
        run(op, **attributes)


def test_a_misspelt_attribute_of_a_case_is_a_failure():
    rows = d5.check_operator("tests.Scaled 2 facter=3")
    assert {row.status for row in rows} == {"failed"} and all("did you mean 'factor'" in row.reason for row in rows)


@pytest.mark.parametrize("op", ["tests.Scaled", "LeakyRelu"])
def test_a_misspelt_attribute_of_a_function_of_torch_is_refused(op):
    torch = pytest.importorskip("torch")
    import d5.torch as d5torch

    with pytest.raises(d5.Error, match="facter"):
        d5torch.custom_op(op, facter=3.0)(torch.ones(2))


def test_a_kernel_of_an_operator_that_there_is_not_is_refused():
    class Kernel(d5.Kernel):
        def forward(self, inputs):
            return inputs[0]

    class Wrong(d5.Framework):
        name, version = "tests-wrong", "1"
        kernels = {"Rellu": lambda plan: Kernel()}

    with pytest.raises(d5.UnknownOption, match="'Rellu'; did you mean 'Relu'"):
        d5.register(Wrong)


MISSPELT = [
    (d5.Event, "after_epcoh", "after_epoch"),
    (d5.Metric, "before_bach", "before_batch"),
    (d5.UpdateRule, "begin_steps", "begin_step"),
    (d5.StepModifier, "gradient_final", "gradients_final"),
    (d5.DistributedOptimizer, "exchagne", "exchange"),
    (d5.Dataset, "feilds", "fields"),
    (d5.Operator, "backwards", "backward"),
    (d5.Kernel, "bacward", "backward"),
    (d5.Schedule, "observes_", "observe"),
]


@pytest.mark.parametrize("base, given, meant", MISSPELT, ids=[given for _, given, _ in MISSPELT])
def test_a_misspelt_hook_is_refused_where_its_class_is_made(base, given, meant):
    with pytest.raises(d5.UnknownOption, match=f"class Mine: .* has no method '{given}'; did you mean '{meant}'"):
        type("Mine", (base,), {given: lambda self: None})


def test_other_methods_are_ones_own():
    class Mine(d5.Event):
        def after_epoch(self, trainer, epoch): ...
        def _after_epcoh(self): ...
        def epochs_so_far(self): ...
        def report(self): ...
        def run(self): ...

    class Hers(Mine):
        def reports(self): ...  # near one of Mine's, which is no class of d5's

    assert Hers().report() is None


def test_rows_by_a_name_that_none_has_are_refused():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    with pytest.raises(TypeError, match="no keyword 'statuss'; did you mean 'status'"):
        rows.where(statuss="failed")
    condition = next(iter(rows[0].conditions))
    assert rows.where(**{condition: "*"})
    assert rows.where(status="failed") == [] and rows.where(status="failed").where(threads="2") == []


def row(**fields):
    one = d5.Measurement()
    for name, value in fields.items():
        setattr(one, name, value)
    return one


ROWS = d5.Measurements(
    [row(subject="lenet", level="network", framework="mine", device="cpu", metric=metric) for metric in ("time", "my_own", "latency")]
)


@pytest.mark.parametrize(
    "words, text",
    [
        ({"metric": "tiem"}, "no row has the metric 'tiem'; did you mean 'time'"),
        ({"metric": "my_onw"}, "did you mean 'my_own'"),
        ({"metric": "peak_memroy"}, "did you mean 'peak_memory'"),  # one in d5.metrics()
        ({"framework": "refrence"}, "did you mean 'reference'"),  # one in d5.frameworks()
        ({"level": "netwrok"}, "did you mean 'network'"),
        ({"device": "gpu"}, "did you mean 'cpu'"),
        ({"status": "pass"}, "there is no status 'pass'; did you mean 'passed'"),
        ({"status": ["failed", "error"]}, "there is no status 'error'; there are passed, failed, mistrusted"),
    ],
)
@pytest.mark.parametrize("rows", [ROWS, ROWS.where(metric="time").where(subject="resnet")], ids=["rows", "none left"])
def test_rows_by_a_misspelt_value_are_refused(rows, words, text):
    with pytest.raises(d5.ValueError, match=text):
        rows.where(**words)


@pytest.mark.parametrize("word", [None, object(), lambda row: True, (one for one in "ab")], ids=["none", "object", "function", "generator"])
def test_rows_by_something_else_than_a_value_are_refused(word):
    with pytest.raises(d5.TypeError, match="metric is .*, expected a text, a number or a list of them"):
        ROWS.where(metric=word)


def test_rows_by_a_value_that_no_row_has_are_none():
    for words in (
        {"metric": "loss"}, {"metric": "answers_differ"}, {"metric": "tiem*"}, {"status": "failed"}, {"framework": "torch"},
        {"subject": "lenets"}, {"device": "cuda:0"}, {"metric": ["loss", "throughput"]}, {"level": "training"},
    ):  # fmt: skip
        assert ROWS.where(**words) == []
    fast = ROWS.where(metric="time")
    assert fast.where(metric="latency") == [] and fast[:0].where(metric="my_own") == []  # words of the rows before
    assert len(ROWS.where(metric=["time", "latency"])) == 2 and len(ROWS.where(metric="*", status="passed")) == 3


def test_rows_are_found_by_numbers_and_by_names_with_brackets():
    bracketed = d5.Measurements([row(subject="mine [2,3]", metric="time")])
    assert bracketed.where(subject="mine [2,3]") == bracketed
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    name, value = next((name, value) for name, value in rows[0].conditions.items() if isinstance(value, int))
    assert rows.where(**{name: value}) and rows.where(**{name: str(value)}) and rows.where(**{name: np.int64(value)})


class AsksFor(d5.Event):
    def __init__(self, name):
        self.name, self.seen = name, None

    def after_batch(self, trainer, batch, outputs):
        self.seen = outputs[self.name].numpy(), outputs.get("logit"), dict(outputs), batch["image"]


class AsksInStep(d5.StepModifier):
    def after_step(self, optimizer, outputs):
        outputs["logit"]


@pytest.mark.parametrize("where", ["event", "modifier", "batch"])
def test_a_hook_that_asks_for_an_output_that_there_is_not_is_answered_with_the_nearest(where):
    data = d5.tensor_dataset({"image": np.zeros((2, 1, 28, 28), np.float32), "label": np.zeros(2, np.int64)})
    batches = d5.sampler("ordered", data, batch_size=2)
    executor = d5.executor(d5.model("lenet", with_loss=True))
    if where == "batch":
        with pytest.raises(d5.NotFound, match="there is no field 'imag'; did you mean 'image'\\? There are image, label"):
            next(batches)["imag"]
        return
    trainer = d5.Trainer(d5.optimizer("sgd", executor, modifiers=[AsksInStep()] if where == "modifier" else []), batches)
    event = AsksFor("logit" if where == "event" else "logits")
    trainer.add_event(event)
    with pytest.raises(KeyError, match="there is no output 'logit'; did you mean 'logits'\\? There are logits, loss") as told:
        trainer.run()
    assert isinstance(told.value, d5.NotFound)
    if where == "modifier":
        return
    right = AsksFor("logits")
    trainer = d5.Trainer(d5.optimizer("sgd", executor), batches)
    trainer.add_event(right)
    trainer.run()
    assert right.seen and right.seen[0].shape == (2, 10) and right.seen[1] is None and set(right.seen[2]) == {"logits", "loss"}


DATA = d5.tensor_dataset({"x": np.zeros((4, 2), np.float32)})
TEXTS = {
    "d5.sampler: batch_size is '2', expected int": lambda: d5.sampler("ordered", DATA, batch_size="2"),
    "d5.sampler: seed is None, expected int": lambda: d5.sampler("shuffle", DATA, batch_size=2, seed=None),
    "d5.model: seed is None, expected int": lambda: d5.model("lenet", seed=None),
    "d5.model: with_loss is 'yes', expected bool": lambda: d5.model("lenet", with_loss="yes"),
    "d5.model: with_loss is None, expected bool": lambda: d5.model("lenet", with_loss=None),
    "d5.dataset: data is None, expected a text": lambda: d5.dataset("mnist", data=None),
    "d5.optimizer: learning_rate is '0.1', expected float": lambda: d5.optimizer("sgd", lenet(), learning_rate="0.1"),
    "d5.optimizer: momentum is '0', expected float": lambda: d5.optimizer("momentum", lenet(), groups=[{"name": "*", "momentum": "0"}]),
    "a schedule: length is '9', expected int": lambda: d5.optimizer(
        "sgd", lenet(), schedules={"learning_rate": {"name": "cosine", "length": "9"}}
    ),
    "d5.schedule: length is '9', expected int": lambda: d5.schedule("cosine", length="9"),
    "a modifier: most is '1', expected float": lambda: d5.optimizer("sgd", lenet(), modifiers=[{"name": "clip_norm", "most": "1"}]),
    "d5.training_metric: target is '0.9', expected float": lambda: d5.training_metric("time_to_accuracy", target="0.9"),
    "d5.AllReduce: ranks_per_node is '4', expected int": lambda: d5.AllReduce("hierarchical", ranks_per_node="4"),
    "d5.bench: samples is '5', expected int": lambda: d5.bench("Relu 4", samples="5"),  # type: ignore[arg-type]
    "d5.Trainer: epochs is '3', expected int": lambda: d5.Trainer(
        d5.optimizer("sgd", lenet()), d5.sampler("ordered", DATA), epochs="3"  # type: ignore[arg-type]
    ),
}
# Options of parts below parts, which the part itself reads.
NESTED = {
    "power is the text '2', expected a number": lambda: d5.schedule("warmup", length=2, then={"name": "polynomial", "power": "2"}),
    "at is the text '3', expected a number": lambda: d5.schedule("warmup", length=2, then={"name": "multi_step", "at": ["3", "5"]}),
}


def lenet():
    return d5.executor(d5.model("lenet", with_loss=True))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_or_none_in_place_of_a_number_is_refused_with_the_call(text):
    with pytest.raises(d5.TypeError, match=f"^{re.escape(text)}"):
        TEXTS[text]()


@pytest.mark.parametrize("text", NESTED)
def test_a_text_in_place_of_a_number_of_a_nested_part_is_refused(text):
    with pytest.raises(d5.TypeError, match=text):
        NESTED[text]()


def test_a_number_is_finite():
    for rate in (np.inf, -np.inf, np.nan, "inf"):
        with pytest.raises((d5.ValueError, d5.TypeError), match="learning_rate.*(expected a (finite )?number|expected float)"):
            d5.optimizer("sgd", lenet(), learning_rate=rate)


def test_numbers_of_numpy_and_torch_are_options():
    assert len(d5.sampler("ordered", DATA, batch_size=np.int64(2))) == 2
    assert d5.optimizer("sgd", lenet(), learning_rate=np.float32(0.5)).hyper_parameters["learning_rate"] == 0.5
    assert d5.model("lenet", with_loss=np.bool_(True)).output_names == ["logits", "loss"]
    torch = pytest.importorskip("torch")
    assert d5.optimizer("sgd", lenet(), learning_rate=torch.tensor(0.5)).hyper_parameters["learning_rate"] == 0.5


CALLS = {
    "optimizer": lambda: d5.optimizer("sgd", d5.executor(d5.model("lenet", with_loss=True)), learning_rte=0.1),
    "model": lambda: d5.model("lenet", sed=1),
    "sampler": lambda: d5.sampler("ordered", d5.tensor_dataset({"x": np.zeros(2, np.float32)}), batch_sise=1),
    "predict": lambda: d5.predict("lenet", bach=16),  # type: ignore[call-arg]
    "calibrate": lambda: d5.calibrate(rank=2),  # type: ignore[call-arg]
    "compile": lambda: d5.op.compile("x.cpp", definition={}),  # type: ignore[call-arg]
    "operator": lambda: d5.operator("Mine", domian="mine"),  # type: ignore[call-arg]
    "bench": lambda: d5.bench("Relu 4", sample=3),  # type: ignore[call-arg]
    "train": lambda: d5.train("mnist-lenet-quick", resumee=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_keyword_is_one_error_with_the_nearest(name):
    if name in ("predict", "calibrate") and "prediction" in d5._d5._left_out():
        pytest.skip("left out of this d5")
    with pytest.raises(d5.UnknownOption, match="did you mean") as told:
        CALLS[name]()
    assert isinstance(told.value, TypeError) and isinstance(told.value, d5.NotFound)


@pytest.mark.parametrize("call", [d5.bench, d5.check_operator, d5.test_forward, d5.test_gradient, d5.test_repeatability])
def test_an_operator_that_there_is_not_is_refused_with_the_nearest(call):
    with pytest.raises(d5.NotFound, match="operator 'Rleu' is unknown; did you mean (Elu or )?Relu"):
        call("Rleu 4x4")
    with pytest.raises(d5.NotFound, match="operator or file of cases 'nofile.txt' is unknown"):
        call("nofile.txt")
    with pytest.raises(d5.ValueError, match="case 'Relu' lacks X; the shapes of inputs follow the operator"):
        call("Relu")


@pytest.mark.parametrize("call", [d5.bench, d5.test_forward])
def test_one_case_is_not_a_file_of_several(call, tmp_path):
    (tmp_path / "cases.txt").write_text("Relu 4\nRelu 5\n")
    with pytest.raises(d5.ValueError, match="is a file of 2 cases, expected one case"):
        call(str(tmp_path / "cases.txt"))
    with pytest.raises(d5.FormatError, match="expected one case: with 'for' a line is several"):
        call("Relu {n} for n=1,2")


@pytest.mark.parametrize("domain", [{}, {"domain": ""}, {"domain": "ai.onnx.ml"}])
def test_an_operator_in_place_of_one_of_d5s_is_refused(domain):
    name = "Binarizer" if domain.get("domain") else "Relu"
    with pytest.raises(d5.ValueError, match=f"custom operator '{name}': d5 has an operator {name}, which would run in its place; give yours a domain"):
        d5.operator(name, **domain)(Plain)
