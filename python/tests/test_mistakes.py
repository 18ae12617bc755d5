# SPDX-License-Identifier: Apache-2.0
"""Mistakes of a first day: each is an error that says who was given what, in one line."""

from typing import Any, cast

import numpy as np
import pytest
from rank_jobs import alone

import d5

IMAGE = np.zeros((1, 1, 28, 28), np.float32)
DATA = d5.tensor_dataset({"image": np.zeros((4, 1, 28, 28), np.float32), "label": np.arange(4)})


def lenet():
    return d5.executor(d5.model("lenet", with_loss=True))


FEW = d5.recipe("mnist-lenet-quick").changed("training.epochs=1", "training.most_batches=2")


def sgd():
    return d5.optimizer("sgd", lenet())


def of_torch():
    return pytest.importorskip("torch")


def module():
    of_torch()
    import d5.torch as d5torch

    return d5torch.module(d5.model("lenet"))


def added(**attributes):
    network = d5.Network("one")
    network.add_input("x", "float32", [1, 2])
    network.add_node("Concat", ["x", "x"], ["y"], **attributes)
    network.add_output("y")
    return d5.executor(network).inference({"x": np.ones((1, 2), np.float32)})["y"].shape


def rule_with_swapped_arguments():
    class Swapped(d5.UpdateRule):
        def update(self, value, gradient):
            value -= gradient


def torch_network(example, module=None, **options):
    torch = of_torch()
    import d5.torch as d5torch

    return d5torch.network(module or torch.nn.Sequential(torch.nn.Linear(3, 2)), example, **options)


def torch_sampler(**options):
    torch = of_torch()
    import d5.torch as d5torch

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 3)), batch_size=2)
    return d5torch.sampler(loader, ["x"], **options)


def custom_op(*arguments, **options):
    of_torch()
    import d5.torch as d5torch

    return d5torch.custom_op("Relu", **options)(*arguments)


class Constant(d5.Optimizer):
    def update_rule(self, gradient, parameter, index):
        pass

    def state(self):
        return {}

    def restore(self, state):
        pass


def given_twice(one):
    executors = lenet(), lenet()
    return [d5.optimizer(one, executor) for executor in executors]


def torch_optimizer_given_again():
    torch = of_torch()
    import d5.torch as d5torch

    one = d5torch.Optimizer(torch.optim.SGD, learning_rate=0.1, momentum=0.9)
    d5.optimizer(one, lenet())
    return d5.optimizer(one, lenet())  # the first optimizer is no more, and its momentum is in `one`


def judged(subject, reference):
    judge = d5.test_optimizer
    return judge(subject, reference, ordered(), 1)


def same_optimizer_tested():
    one = d5.optimizer("sgd", lenet())
    return judged(lambda: one, lambda: d5.optimizer("sgd", lenet()))


def read_only(array):
    array.setflags(write=False)
    return array


def torch_optimizer(*arguments):
    of_torch()
    import d5.torch as d5torch

    return d5torch.Optimizer(*arguments)


def ordered(dataset=DATA):
    return d5.sampler("ordered", dataset, batch_size=2)


def run_with(event):
    executor = lenet()
    executor.add_event(event)
    return executor.inference({"image": IMAGE, "label": np.zeros(1, int)})


def of_class(base, **attributes):
    return type("Mine", (base,), attributes)


def stepped(**words):
    """A step with an update rule or a modifier of these attributes."""

    class Forgetful(d5.UpdateRule):
        def begin_step(self, step, numbers):
            numbers["k"] = 3.0

        def update(self, gradient, value):
            pass

    rule = words.pop("rule", "sgd")
    optimizer = d5.optimizer(Forgetful() if rule == "forgetful" else rule, lenet(), **words)
    return d5.Trainer(optimizer, ordered()).run()


class Unreadable(d5.Dataset):
    read = None

    def __len__(self):
        return 3

    def fields(self):
        return {"x": ("float32", [2])}


class Extra(d5.BatchStep):
    def run(self, batch, seed):
        return {"imaeg": batch["image"].numpy()}


class Count(d5.Metric):
    def after_batch(self, trainer, batch, outputs):
        self.samples.append(1)


def batch_of_extra():
    d5.register("extra-field")(Extra)
    add = d5.with_batch_steps
    return add(ordered(), ["extra-field"]).next()


def hooked(**hooks):
    """A step with an event of these hooks."""
    trainer = d5.Trainer(sgd(), ordered(), most_batches=1)
    trainer.add_event(of_class(d5.Event, **hooks)())
    trainer.run()


def restored_with_more():
    optimizer = d5.optimizer("momentum", lenet())
    optimizer.restore({**optimizer.state(), "velocty": np.zeros(1)})


class Named(Count):
    name = "loss"


class Truth(d5.Schedule):
    def at(self, time: int, initial: float) -> float:
        return True


async def later():
    pass


def many():
    yield 1


def scaled_by_batch(torch):
    class Scaled(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, x):
            return x / int(x.shape[0])

    return Scaled()


def folded_by_batch(torch):
    class Folded(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, x):
            return x.reshape(int(x.shape[0]), -1)

    return Folded()


def counting(torch):
    class Counting(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.calls += 1
            return x * self.calls

    return Counting()


def of_two(made, *shape, **options):
    torch = of_torch()
    return torch_network(torch.ones(2, *shape), made(torch), **options)


def operator_named(name, since=1):
    return d5.operator(name, since=since)


def trained_with(call, name="ordered", hook="after_batch"):
    """A training whose hook calls a function of the samplers, and returns its result."""
    samplers = [d5.sampler(name, DATA, batch_size=2) for _ in range(2)]
    trainer = d5.Trainer(sgd(), *samplers)
    trainer.add_event(of_class(d5.Event, **{hook: lambda self, trainer, *given: call(*samplers)})())
    return trainer.run()


def ruled(**attributes):
    attributes.setdefault("update", lambda self, gradient, value, *slots: None)
    return d5.Trainer(d5.optimizer(of_class(d5.UpdateRule, **attributes), lenet()), ordered()).run()


def saved(**attributes):
    """The state of an optimizer in Python of these attributes."""
    return d5.optimizer(of_class(Constant, **attributes)(), lenet()).state()


def saved_of_metric(state):
    trainer = d5.Trainer(sgd(), ordered())
    trainer.add_event(of_class(Count, state=lambda self: state, restore=lambda self, state: None)())
    return trainer.save_checkpoint("none.ckpt")


def set_attribute(of, name, value=3):
    return setattr(of, name, value)


def framed(**tables):
    return d5.register(type("Mine", (d5.Framework,), {"name": "tests-mistaken", "version": "1", **tables}))


async def waits(*arguments):
    pass


def yields(*arguments):
    yield


ANY: Any = object()
MISTAKES = {
    "a list for a number": (lambda: d5.model("lenet", seed=[1]), r"d5.model: seed is \[1\], expected int"),
    "a list for a rate": (lambda: d5.optimizer("sgd", lenet(), learning_rate=[0.1]), r"learning_rate is \[0.1\], expected float"),
    "an array for a number": (lambda: d5.model("lenet", seed=np.array([1, 2])), "option seed is '1,2', expected an integer"),
    "a wish that no model has": (lambda: d5.open_model("lenet", sed=1), "option of a model 'sed' is unknown; did you mean seed"),
    "a wish of text": (lambda: d5.open_model("lenet", seed="1"), "d5.open_model: seed is '1', expected int"),
    "a negative dimension": (lambda: d5.Network("a").add_input("x", "float32", [-1, 2]), "input 'x' has a dimension of -1; expected 0 or more"),
    "masked elements": (lambda: d5.Tensor(np.ma.masked_array([1.0, 2.0], mask=[False, True])), r"masked elements; x.filled\(0\)"),
    "rows of other lengths": (lambda: d5.Tensor([[1], [1, 2]]), "list cannot become a tensor: .*inhomogeneous"),
    "a sparse tensor": (lambda: d5.Tensor(of_torch().zeros(2).to_sparse()), "Tensor cannot become a tensor: .*; expected dense elements"),
    "a tensor without memory": (lambda: d5.Tensor(of_torch().zeros(2, device="meta")), "Tensor cannot become a tensor: .*meta"),
    "flags for indices": (lambda: d5.subset(DATA, np.array([True, False, True, False])), r"d5.subset: samples is .*; np.flatnonzero\(samples\)"),
    "flags of torch for indices": (lambda: d5.subset(DATA, of_torch().tensor([True, False])), r"np.flatnonzero\(samples\)"),
    "real indices": (lambda: d5.subset(DATA, cast(Any, [1.5])), r"d5.subset: samples is \[1.5\], expected Sequence\[int\]"),
    "no list of modifiers": (lambda: d5.optimizer("sgd", lenet(), modifiers=None), "a modifier is None; expected a name"),
    "a number for a step": (lambda: d5.transformed(DATA, cast(Any, [3])), "a step is 3, expected a name, or a dict with a name and settings"),
    "a dict for an assignment": (lambda: d5.recipe("mnist-lenet-quick").changed(cast(Any, {"training.epochs": 1})), "gave {.*}, expected a text such as 'training.epochs=2'"),
    "say": (lambda: d5.train("mnist-lenet-quick", say="yes"), "say is 'yes', expected a function of a line"),
    "a text for a number": (lambda: d5.train("mnist-lenet-quick", checkpoint_every="5"), "checkpoint_every is '5', expected int"),
    "a value of the recipe": (lambda: d5.train("mnist-lenet-quick", epochs=3), r"'epochs' is unknown.*recipe.changed\(\"training.epochs=2\"\), or by overrides"),
    "None for an input": (lambda: lenet().inference({"image": None, "label": np.zeros(1, int)}), r"input 'image' is float32 Nx1x28x28, but nothing \(None\) was fed"),
    "a rule's arguments in another order": (rule_with_swapped_arguments, r"Swapped: update takes \(self, value, gradient\) in another order than d5.UpdateRule, which calls update\(gradient, value, slots\)"),
    "a group without a name": (lambda: d5.optimizer("sgd", lenet(), groups=[{"parameters": "*.bias", "learning_rate": 0.1}]), "groups: entry 0 .* has no name, which is its pattern; it has learning_rate, parameters"),
    "groups that set nothing": (lambda: d5.optimizer("sgd", lenet(), groups=["fc3.*"]), "groups of parameters: 'fc3.\\*' has no option of its own"),
    "no steps to compare": (lambda: d5.test_optimizer(sgd, sgd, d5.sampler("ordered", DATA, batch_size=2), steps=0), "test_optimizer: steps is 0, expected at least 1"),
    "a schedule without its length": (lambda: d5.optimizer("sgd", lenet(), schedules={"learning_rate": "cosine"}), "schedule cosine: give its length"),
    "a limit without a unit": (lambda: d5.find_peak(lambda sample: sample, "p99<=50"), 'p99 .<=50.: expected >= or <= and a time with its unit, as "<=50ms"'),
    "a seed as a variant": (lambda: d5.train_variants("mnist-lenet-quick", vary="training.seed=1,2"), "vary training.seed=1,2: each run has a seed of its own"),
    "a variant twice": (lambda: d5.train_variants("mnist-lenet-quick", vary="optimizer.learning_rate=0.1,0.1"), "vary optimizer.learning_rate=0.1,0.1: 0.1 is there twice"),
    "a misspelt metric of runs": (lambda: d5.repeat_training(FEW, runs=2, metric="tset_accuracy"), "metric of a training 'tset_accuracy' is unknown; did you mean test_accuracy"),
    "a state without what is needed": (lambda: d5.optimizer("adam", lenet()).restore({}), "the saved state lacks 'step'; it has nothing"),
    "initials for an option": (lambda: d5.train("mnist-lenet-quick", overrides={"optimizer.lr": 0.1}), "'optimizer.lr' is unknown; did you mean optimizer.learning_rate"),
    "framework twice": (lambda: d5.train("mnist-lenet-quick", framework="torch", frameworks=["torch"]), "framework and frameworks are one keyword"),
    "numbers for rows": (lambda: d5.Measurements(cast(Any, [1, 2])), "d5.Measurements: a row is 1, expected a d5.Measurement"),
    "a batch of nothing": (lambda: d5.bench_network("lenet", batch=0), "batch is 0, expected a number of samples, at least 1"),
    "a size of nothing": (lambda: d5.check_network("lenet", dims={"N": -1}), "the size of dimension 'N' is -1, expected at least 1"),
    "an infinite tolerance": (lambda: d5.check_network("lenet", rtol=np.inf), "rtol is inf, expected a finite number >= 0"),
    "no kernels": (lambda: d5.overlap_map({}), "d5.overlap_map: kernels is {}, expected functions by name"),
    "a misspelt framework": (lambda: d5.scale("mnist-lenet-quick", framework="referense"), "framework 'referense' is unknown; did you mean reference"),
    "a misspelt framework of an operator": (lambda: d5.test_forward("Relu 3", "referense"), "framework 'referense' is unknown; did you mean reference"),
    "a misspelt framework of a model": (lambda: d5.evaluate("efficientnet-lite0", frameworks="referense"), "framework 'referense' is unknown; did you mean reference"),
    "a number for work": (lambda: d5.run_work(cast(Any, {"mine": 3})), "the work 'mine' is 3, expected a function"),
    "a class of another kind": (lambda: d5.operator("Mine")(cast(Any, int)), "d5.operator: Mine is <class 'int'>, expected a class that derives from d5.Operator"),
    "a module's input": (lambda: module()(3), "the module's input 'image' is 3, expected a tensor of torch"),
    "an optimizer of torch": (
        lambda: d5.optimizer(of_torch().optim.SGD([of_torch().zeros(1, requires_grad=True)], 0.1), lenet()),
        r"d5.torch.Optimizer\(torch.optim.SGD, learning_rate=",
    ),
    "a loader": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), of_torch().utils.data.DataLoader([1])), r"expected Sampler; d5.torch.sampler\(loader, fields\)"),
    "a data set for a sampler": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), cast(Any, DATA)), r"expected Sampler; d5.sampler\("),
    "a network for an executor": (lambda: d5.optimizer("sgd", cast(Any, d5.model("lenet"))), r"expected GraphExecutor; d5.executor\(network\)"),
    "a name for a network": (lambda: d5.executor(cast(Any, "lenet")), r"expected Network; d5.model\(name\)"),
    "an optimizer for two executors": (lambda: given_twice(Constant()), r"which is .*Constant.*, which trains another executor.*make another object for this one: Constant\(...\)"),
    "an optimizer of torch for two executors": (torch_optimizer_given_again, "which trains another executor, whose state it holds"),
    "an optimizer in three steps for two executors": (lambda: given_twice(of_class(d5.ThreeStepOptimizer, update_rule=lambda self, gradient, parameter: None)()), "which trains another executor"),
    "an optimizer for two loops": (same_optimizer_tested, r"subject\(\) gave the same optimizer again, expected an optimizer and an executor of its own"),
    "a number for an optimizer's maker": (lambda: judged(lambda: 3, lambda: 3), r"d5.test_optimizer: \w+\(\) gave 3, expected an optimizer"),
    "None for an optimizer": (lambda: d5.optimizer(None, lenet()), "d5.optimizer: which is None, expected a name"),
    "a metric's misspelt attribute": (lambda: of_class(d5.Metric, statistc="mean"), "d5.Metric has no attribute 'statistc'; did you mean 'statistic'.*_statistc"),
    "a metric's attribute with swapped letters": (lambda: of_class(d5.Metric, unti="s"), "did you mean 'unit'"),
    "a metric's attribute in another case": (lambda: of_class(d5.Metric, Statistic="mean"), "did you mean 'statistic'"),
    "a rule's misspelt attribute": (lambda: of_class(d5.UpdateRule, slot=("velocity",)), "d5.UpdateRule has no attribute 'slot'; did you mean 'slots'"),
    "a metric's unit": (lambda: d5.train("mnist-lenet-quick", metrics=[of_class(Count, unit=3)]), "Mine.unit gave 3, expected a text"),
    "a metric's name": (lambda: d5.train("mnist-lenet-quick", metrics=[of_class(Count, name=None)]), "Mine.name gave None, expected a text"),
    "a metric twice": (lambda: d5.train("mnist-lenet-quick", metrics=[Count, Count]), "metrics has .*Count.* twice, expected each once"),
    "more names than inputs": (lambda: torch_network(of_torch().ones(2, 3), input_names=["a", "b"]), r"input_names is \['a', 'b'\], expected one name for each tensor in example, which has 1"),
    "an input by a parameter's name": (lambda: torch_network(of_torch().ones(2, 3), input_names=["0.weight"]), "and '0.weight' is a parameter or a buffer of the module"),
    "an output by a parameter's name": (lambda: torch_network(of_torch().ones(2, 3), output_names=["0.bias"]), "and '0.bias' is a parameter or a buffer of the module"),
    "a name for two outputs": (lambda: torch_network(of_torch().ones(2, 3), output_names=["y", "y"]), "expected each name once"),
    "more names than outputs": (lambda: torch_network(of_torch().ones(2, 3), output_names=["y", "z"]), r"output_names is \['y', 'z'\], expected at most 1"),
    "a misspelt option of the export": (lambda: torch_network(of_torch().ones(2, 3), dynamics=True), "d5.torch.network has no keyword 'dynamics'; did you mean 'dynamic'"),
    "no example": (lambda: torch_network(None), r"d5.torch.network: the module cannot run on example \(None\): linear"),
    "an example of another shape": (lambda: torch_network(of_torch().ones(2, 4)), r"cannot run on example \(float32 2x4\): mat1 and mat2"),
    "an example of another type": (lambda: torch_network(of_torch().ones(2, 3), of_torch().nn.Linear(3, 2).double()), r"cannot run on example \(float32 2x3\): "),
    "a loader's misspelt keyword": (lambda: torch_sampler(sede=1), "d5.torch.Sampler has no keyword 'sede'; did you mean 'seed'"),
    "a loader's negative seed": (lambda: torch_sampler(seed=-1), "d5.torch.sampler: seed is -1, expected an integer of 0 or more"),
    "an operator without outputs": (lambda: custom_op(outputs=0), "d5.torch.custom_op: outputs is 0, expected .* at least 1"),
    "an array for an operator of torch": (lambda: custom_op(np.zeros(2)), r"Relu: input 0 is array.*, expected a tensor of torch; torch.from_numpy\(array\)"),
    "a module's input twice": (lambda: module()(of_torch().ones(1), image=of_torch().ones(1)), "given 'image' in order and by name, expected each of .'image'. once"),
    "too many inputs of a module": (lambda: module()(of_torch().ones(1), of_torch().ones(1)), "given 2 inputs in order, expected each of .'image'. once"),
    "a folder for a manifest": (lambda: d5.lint_manifest("."), r"d5.lint_manifest: manifest is '.', a folder; expected a file: "),
    "tests without a sampler": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), ordered()).test(), "d5.Trainer.test: the trainer has no sampler for tests"),
    "an interval of tests without a sampler": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), ordered(), test_every=2), "test_every is given without test"),
    "a change of a batch's fields": (lambda: ordered().next().values.update(image=IMAGE), r"d5.Batch.values cannot be changed.*batch\[name\].numpy\(\)\[...\] = values"),
    "a change of a hook's outputs": (lambda: hooked(after_batch=lambda self, trainer, batch, outputs: outputs.update(loss=0)), "a hook's outputs cannot be changed"),
    "a change of a row's conditions": (lambda: d5.measure(list)[0].conditions.update(k="v"), r"d5.Measurement.conditions cannot be changed.*dict\(conditions\) is a copy"),
    "a change of a recipe's values": (lambda: FEW.values.update({"training.epochs": "9"}), r"d5.Recipe.values cannot be changed.*recipe.set\("),
    "a change of a checkpoint's tensors": (lambda: d5.Checkpoint({}).tensors.update(x=IMAGE), r"d5.Checkpoint.tensors cannot be changed.*\*\*checkpoint.tensors"),
    "a change of hyper-parameters": (lambda: sgd().hyper_parameters.update(learning_rate=1.0), "hyper_parameters cannot be changed.*set_hyper_parameter"),
    "a condition that a row lacks": (lambda: d5.measure(list)[0].conditions["thread"], "no entry of d5.Measurement.conditions 'thread'; did you mean 'threads'"),
    "an output that there is not": (lambda: d5.executor(d5.model("lenet")).inference({"image": IMAGE})["logit"], "no output 'logit'; did you mean 'logits'"),
    "an output that there is not until the next run": (lambda: d5.executor(d5.model("lenet")).inference({"image": IMAGE}, copy=False)["logit"], "did you mean 'logits'"),
    "an output of a step": (lambda: sgd().step(ordered().next())["los"], "did you mean 'loss'"),
    "a coroutine to measure": (lambda: d5.measure(later), r"d5.measure: a call of run makes a coroutine, whose code does not run.*asyncio.run\("),
    "a generator to measure": (lambda: d5.measure({"a": many}), r"makes a generator, whose code does not run.*list\(f\(\)\)"),
    "an entry that a state lacks": (restored_with_more, "entry of the optimizer's state 'velocty' is unknown"),
    "kept checkpoints without their file": (lambda: d5.Trainer(sgd(), ordered(), checkpoints_kept=3), "checkpoints_kept is given without checkpoint"),
    "kept checkpoints of a recipe": (lambda: d5.train(FEW, checkpoints_kept=3), "checkpoints_kept is given without checkpoint"),
    "no metrics": (lambda: d5.train(FEW, metrics=[]), r"metrics is \[\], expected one or more; leave it out"),
    "a metric's name of d5's": (lambda: d5.train(FEW, metrics=[Named]), "metric Named: name is 'loss', which is one of d5's metrics"),
    "a metric without a name": (lambda: d5.train(FEW, metrics=[of_class(Count, name="")]), "metric Mine: name is '', expected a name"),
    "no best classes": (lambda: d5.count_right(np.zeros((2, 3), np.float32), np.array([0, 1]), k=0), "d5.count_right: k is 0, expected at least 1"),
    "a label that is no class": (lambda: d5.count_right(np.zeros((2, 3), np.float32), np.array([0, 9])), "d5.count_right: labels has 9, expected a class of the scores, 0 to 2"),
    "no memory": (lambda: d5.set_memory_budget(0), "d5.set_memory_budget: bytes is 0, expected at least 1"),
    "a flag for a rate": (lambda: stepped(schedules={"learning_rate": Truth()}), r"schedule Truth: at\(\) gave True, expected a number"),
    "a group after one that takes all": (
        lambda: d5.optimizer("sgd", lenet(), groups=[{"name": "*", "learning_rate": 0.1}, {"name": "*.bias", "learning_rate": 0.2}]),
        "'\\*.bias' matches '.*bias', which the earlier group '\\*' has",
    ),
    "an optimizer of torch that is made": (
        lambda: torch_optimizer(of_torch().optim.SGD([of_torch().zeros(1, requires_grad=True)], 0.1)),
        r"d5.torch.Optimizer: kind is SGD .*d5.torch.Optimizer\(torch.optim.SGD, learning_rate=",
    ),
    "a batch for given inputs of a network to run": (lambda: d5.run_network(d5.model("lenet"), {"image": IMAGE}, batch=2), "'lenet.onnx' brings its own"),
    "a batch for given inputs of a network to check": (lambda: d5.check_network(d5.model("lenet"), inputs={"image": IMAGE}, batch=2), "'lenet.onnx' brings its own"),
    "a batch for given inputs of a network to measure": (lambda: d5.bench_network(d5.model("lenet"), inputs={"image": IMAGE}, batch=2), "'lenet.onnx' brings its own"),
    "given inputs of another shape to measure": (lambda: d5.bench_network("lenet", inputs={"image": IMAGE[..., :5]}), "input 'image' is float32 Nx1x28x28, but the value is float32 1x1x28x5"),
    "given inputs of another shape to train": (lambda: d5.bench_network("lenet", training=True, inputs={"image": IMAGE[..., :5]}), "input 'image' is float32 Nx1x28x28"),
    "a module's shape with the example's batch": (lambda: of_two(folded_by_batch, 2, 2, dynamic=True), "with a batch of 4 in place of 2 output .* is float32 2x8, and the module's float32 4x4"),
    "a module's values with the example's batch": (lambda: of_two(scaled_by_batch, 2, dynamic=True), "with a batch of 4 in place of 2 output .* differs from the module's"),
    "a module that counts its calls": (lambda: of_two(counting), "the module's forward changes 'calls', and a network keeps running statistics"),
    "an array for a collective that is a part": (lambda: d5.world().all_reduce(np.ones((4, 4))[:, 1]), r"not dense in row-major order.*np.ascontiguousarray\(array\)"),
    "a read-only array for a collective": (lambda: d5.world().broadcast(read_only(np.ones(3))), "is read-only, like the array that it shares"),
    "a batch step's unknown field": (batch_of_extra, "batch step returned a field, which 'imaeg' is unknown; did you mean image"),
    "a number that is not carried": (lambda: stepped(rule="forgetful"), r"wrote numbers\['k'\], which is not carried.*numbers = \(\"k\",\)"),
    "a loss factor of zero": (lambda: stepped(modifiers=[of_class(d5.StepModifier, loss_factor=lambda self: 0.0)()]), r"loss_factor\(\) gave 0, expected a finite number other than 0"),
    "negative threads": (lambda: d5.predictor("reference", "no.onnx", threads=-1), "d5.predictor: threads is -1, expected 0"),
    "a negative step": (lambda: d5.Checkpoint({}, step=-1), "d5.Checkpoint: step is -1, expected 0 or more"),
    "no work": (lambda: d5.run_work({}), r"d5.run_work: work is {}, expected one or more"),
    "a number for the name of work": (lambda: d5.run_work(cast(Any, {1: list})), "a name in work gave 1, expected a text"),
    "no patterns": (lambda: d5.freeze(d5.model("lenet"), []), r"d5.freeze: patterns is \[\], expected one or more"),
    "no runs to plot": (lambda: d5.accuracy_plot({}), "d5.accuracy_plot: runs is {}, expected one or more"),
    "nothing to compare with": (lambda: d5.compare([], []), r"d5.compare: a is \[\], expected one or more measurements"),
    "no queries": (lambda: d5.run_scenario("single_stream", lambda i: 0, queries=0), "asks 0 to .* queries"),
    "fewer queries than none": (lambda: d5.run_scenario("offline", lambda i: 0, queries=-1), "asks -1 to .* queries"),
    "no time": (lambda: d5.run_scenario("server", lambda i: 0, seconds=float("nan")), "lasts from nan"),
    "nothing to store": (lambda: d5.Database("none.db").add([]), r"d5.Database.add: measurements is \[\]"),
    "an operator's version": (lambda: operator_named("Mine", since=-1), "d5.operator: since is -1, expected .* at least 1"),
    "an operator without a name": (lambda: operator_named(""), "d5.operator: name is '', expected a name"),
    "a number for a field": (lambda: d5.tensor_dataset(cast(Any, {1: IMAGE})), "d5.tensor_dataset: a name in fields gave 1, expected a text"),
    "a number for a framework": (lambda: d5.measure(cast(Any, {1: list})), "d5.measure: a name in run gave 1, expected a text"),
    "None for a method": (lambda: ordered(Unreadable()).next(), "the data set Unreadable has no method read"),
    "a number for a training": (lambda: d5.repeat_trainings(cast(Any, {"a": 3})), "the training 'a' is 3, expected a function of the seed"),
    "None for rows": (lambda: d5.Measurements(cast(Any, None)), "d5.Measurements: rows is None, expected a list of d5.Measurement"),
    "runs to resume without a file": (lambda: d5.train_variants("mnist-lenet-quick", vary="optimizer.name=sgd,adam", resume=True), "resume is given without out"),
    "a number for an event": (lambda: lenet().add_event(cast(Any, 3)), "the event is 3, expected an object of a class derived from d5.Event"),
    "a number for a trainer's event": (lambda: d5.Trainer(d5.optimizer("sgd", lenet()), ordered()).add_event(cast(Any, 3)), "the event is 3, expected an object of a class derived"),
    "a hook that resets the sampler": (lambda: trained_with(lambda train, test: train.reset(0)), "the sampler is at work in the call that runs this hook, which would lose its place"),
    "a hook that moves the sampler": (lambda: trained_with(lambda train, test: train.seek(0, 0)), "the sampler is at work in the call that runs this hook"),
    "a hook that reads the sampler": (lambda: trained_with(lambda train, test: train.next(), "shuffle"), "the sampler is at work in the call that runs this hook"),
    "a hook that loops over the sampler": (lambda: trained_with(lambda train, test: list(train)), "the sampler is at work in the call that runs this hook"),
    "a hook that reads ahead": (lambda: trained_with(lambda train, test: train.read_ahead(2)), "the sampler is at work in the call that runs this hook"),
    "a hook before a batch that resets the sampler": (lambda: trained_with(lambda train, test: train.reset(0), hook="before_batch"), "the sampler is at work in the call"),
    "a hook of tests that resets their sampler": (lambda: trained_with(lambda train, test: test.reset(0), hook="after_test_batch"), "the sampler is at work in the call"),
    "a slot twice": (lambda: ruled(slots=("a", "a")), "update rule Mine: slots and numbers name 'a' twice, which a checkpoint would store once"),
    "a number like a slot": (lambda: ruled(slots=("a",), numbers=("a",)), "slots and numbers name 'a' twice"),
    "a negative slot": (lambda: ruled(slots=("a",), slot_shape=lambda self, slot, shape: (-1,)), r"Mine.slot_shape\('a', [0-9x]+\) gave \(-1,\), expected sizes of 0 or more"),
    "a result of begin_step": (lambda: ruled(numbers=("k",), begin_step=lambda self, step, numbers: 0.5), r"Mine.begin_step\(\) returned an object of type float, which is not used"),
    "a metric's state without restore": (lambda: d5.train(FEW, metrics=[of_class(Count, state=lambda self: {})]), r"class Mine has state\(\), and lacks restore\(state\): a training that is resumed"),
    "a metric's restore without state": (lambda: d5.train(FEW, metrics=[of_class(Count, restore=lambda self, state: None)]), r"class Mine has restore\(state\), and lacks state\(\)"),
    "a modifier's state without restore": (lambda: stepped(modifiers=[of_class(d5.StepModifier, state=lambda self: {})()]), r"class Mine has state\(\), and lacks restore"),
    "a schedule's state without restore": (
        lambda: stepped(schedules={"learning_rate": of_class(d5.Schedule, at=lambda self, time, initial: 0.1, state=lambda self: {})()}),
        r"class Mine has state\(\), and lacks restore",
    ),
    "a list for a state": (lambda: saved(state=lambda self: [1]), r"Mine.state\(\) gave \[1\], expected a dict of arrays by name"),
    "None in a state": (lambda: saved(state=lambda self: {"k": None}), r"Mine.state\(\): 'k' gave None, expected an array or a number"),
    "a list in a state": (lambda: saved(state=lambda self: {"k": [1, 2]}), r"Mine.state\(\): 'k' gave \[1, 2\], expected an array or a number"),
    "an object in a state": (lambda: saved(state=lambda self: {"k": object()}), r"Mine.state\(\): 'k' gave <object.*, expected an array or a number"),
    "a number for a name of a state": (lambda: saved(state=lambda self: {3: np.ones(1)}), r"Mine.state\(\): a name gave 3, expected a text"),
    "a number for a metric's state": (lambda: saved_of_metric(3), r"Mine.state\(\) gave 3, expected a dict of arrays by name"),
    "None in a metric's state": (lambda: saved_of_metric({"k": None}), r"Mine.state\(\): 'k' gave None"),
    "a misspelt infer": (lambda: of_class(d5.Operator, infre=lambda self, context: []), "d5.Operator has no method 'infre'; did you mean 'infer'"),
    "infer by another word": (lambda: of_class(d5.Operator, infer_shape=lambda self, context: []), "d5.Operator has no method 'infer_shape'; did you mean 'infer'"),
    "a misspelt flop": (lambda: of_class(d5.Operator, flops=lambda self, context: 0), "d5.Operator has no method 'flops'; did you mean 'flop'"),
    "infer without a context": (lambda: of_class(d5.Operator, infer=lambda self: []), r"infer takes \(self\), and d5.Operator calls infer\(self, context\)"),
    "a batch step's misspelt fields": (lambda: of_class(d5.BatchStep, feilds=lambda self, fields: fields), "d5.BatchStep has no method 'feilds'; did you mean 'fields'"),
    "a data set's misspelt read": (lambda: of_class(d5.Dataset, raed=lambda self, index, seed, epoch: {}), "d5.Dataset has no method 'raed'; did you mean 'read'"),
    "a hook that yields": (lambda: of_class(d5.Event, after_batch=yields), "class Mine: d5 would never run the body of after_batch; write it without yield"),
    "a hook that waits": (lambda: of_class(d5.Event, after_node=waits), "class Mine: d5 would never run the body of after_node; write it without async"),
    "an operator that yields": (lambda: of_class(d5.Operator, forward=yields), "class Mine: d5 would never run the body of forward"),
    "a hook's flag": (lambda: trained_with(lambda train, test: True), r"Mine.after_batch\(\) returned True, which is not used; wants_stop\(\) ends a training"),
    "a hook's generator": (lambda: trained_with(lambda train, test: yields()), r"Mine.after_batch\(\) returned a generator, which nothing runs; write it without yield"),
    "an executor's hook with a flag": (lambda: run_with(of_class(d5.Event, before_node=lambda self, step: False)()), r"Mine.before_node\(\) returned False, which is not used"),
    "a number among rows": (lambda: d5.Measurements().append(cast(Any, 3)), "d5.Measurements: a row is 3, expected a d5.Measurement"),
    "numbers among rows": (lambda: d5.Measurements().extend(cast(Any, [3])), "d5.Measurements: a row is 3"),
    "a large attribute": (lambda: added(axis=2**70), "Concat: attribute 'axis' is 1180591620717411303424, expected an integer of 64 bits"),
    "None for an attribute": (lambda: added(axis=None, name="both"), "Concat 'both': attribute 'axis' is None, expected .*; leave it out for ONNX's default"),
    "a list of None for an attribute": (lambda: added(axis=[None]), r"Concat: attribute 'axis' is \[None\], expected"),
    "a list of kernels": (lambda: framed(kernels=["Relu"]), r"framework tests-mistaken: kernels is \['Relu'\], expected a dict from names to what makes them"),
    "a number for a kernel": (lambda: framed(kernels={"Relu": 3}), "framework tests-mistaken: kernels is {'Relu': 3}, expected a dict"),
    "a list of executors": (lambda: framed(executors=["whole"]), r"framework tests-mistaken: executors is \['whole'\], expected a dict"),
    "a gradient that was not asked for": (lambda: lenet().gradient("fc3.weight"), "name it in the option gradients, and run backpropagation"),
}  # fmt: skip


@alone("every rank would do the same")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_an_error_in_one_line(mistake):
    call, text = MISTAKES[mistake]
    with pytest.raises(d5.Error, match=text) as told:
        call()
    assert "\n" not in str(told.value)


ATTRIBUTES = {
    "a sampler's size": (lambda: set_attribute(ordered(), "batch_size"), "d5.Sampler has no attribute 'batch_size'"),
    "a sampler's misspelt attribute": (lambda: set_attribute(ordered(), "datasett"), "d5.Sampler has no attribute 'datasett'; did you mean 'dataset'"),
    "a sampler's method": (lambda: set_attribute(ordered(), "next"), "d5.Sampler.next is a method, which cannot be replaced"),
    "rows' misspelt attribute": (lambda: set_attribute(d5.Measurements(), "wher"), "d5.Measurements has no attribute 'wher'; did you mean 'where'"),
}


@pytest.mark.parametrize("mistake", ATTRIBUTES)
def test_an_attribute_that_there_is_not_is_not_set(mistake):
    call, text = ATTRIBUTES[mistake]
    with pytest.raises(AttributeError, match=text) as told:
        call()
    assert "\n" not in str(told.value)


def test_a_hook_reads_the_sampler_of_test_runs_between_them():
    read = []
    trained_with(lambda train, test: read.append(len(list(test))), hook="after_epoch")
    assert read == [2]


def test_a_class_in_python_has_attributes_of_its_own():
    sampler = of_class(d5.Sampler)()
    set_attribute(sampler, "batch_size")
    assert sampler.batch_size == 3


@alone("every rank would do the same")
def test_own_attributes_are_no_slips():
    for base, attributes in (
        (d5.Metric, {"loss": "x", "limit": 3, "name2": "b", "names": ["a"], "same": True}),
        (d5.UpdateRule, {"slots": (), "step": 1}),
        (d5.Operator, {"attribute": 3}),
    ):
        assert of_class(base, **attributes)


@alone("every rank would do the same")
def test_an_optimizer_is_given_again_to_its_executor_or_when_the_first_is_gone():
    one, executor = Constant(), lenet()
    first = d5.optimizer(one, executor)
    assert d5.optimizer(one, executor) and first
    del first
    assert d5.optimizer(one, lenet())


def test_a_misspelt_function_of_the_module_has_the_nearest():
    with pytest.raises(AttributeError, match="module 'd5' has no attribute 'trian'; did you mean 'train'"):
        getattr(d5, "trian")


def test_what_people_give_is_taken():
    torch = of_torch()
    assert added(axis=np.int64(1)) == (1, 4) and added(axis=1) == (1, 4)
    assert len(d5.subset(DATA, torch.arange(3))) == len(d5.subset(DATA, np.arange(3))) == len(d5.subset(DATA, range(3))) == 3
    assert len(d5.subset(DATA, [])) == 0 and len(d5.subset(DATA, (0, 1))) == 2
    assert d5.Tensor(np.ma.masked_array([1.0, 2.0])).tolist() == [1, 2]
    assert d5.optimizer("sgd", lenet(), modifiers="ema") and d5.optimizer("sgd", lenet(), modifiers=[])


@alone("each would train by itself, which is refused")
def test_a_training_takes_one_framework_or_several_and_metrics_as_text():
    few = {"training.epochs": 1, "training.most_batches": 1}
    for words in ({"framework": "reference"}, {"frameworks": "reference"}, {"frameworks": ["reference"]}):
        rows = d5.train("mnist-lenet-quick", overrides=few, metrics="throughput", **words).rows
        assert rows.where(metric="throughput") and {row.framework for row in rows} == {"reference"}
