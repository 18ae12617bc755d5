# SPDX-License-Identifier: Apache-2.0
"""Cost of calls from Python: arrays, runs, hooks, operators, optimizers and data sets in Python.

usage: python_calls.py [--quick]    (the module d5 on the Python path; uses torch if installed)

Subjects of a figure take turns, round by round; medians and quartiles of the rounds are printed, and
the ratio of each round's pair. Prints each goal with the reached value at the end. The
machine must be otherwise idle.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import d5
import numpy as np

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

Call = Callable[[], Any]


def seconds_of(call: Call, repetitions: int) -> float:
    begin = time.perf_counter()  # the calls alone
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - begin) / repetitions


def in_turns(subjects: dict[str, Call], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Seconds of a call: a sample of each per round, in varying order."""
    repetitions = {name: max(1, int(seconds / max(seconds_of(call, 3), 1e-7))) for name, call in subjects.items()}
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    names = list(subjects)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            samples[name].append(seconds_of(subjects[name], repetitions[name]))
    return samples


def quartiles(samples: list[float]) -> str:
    low, middle, high = statistics.quantiles(samples, n=4)
    scale, unit = (1e6, "us") if middle < 1e-3 else (1e3, "ms") if middle < 1 else (1.0, "s")
    return f"{middle * scale:9.3f} {unit} [{low * scale:.3f}, {high * scale:.3f}]"


# Figure, reached value, goal, and unit.
REACHED: list[tuple[str, float, float, str]] = []


def reach(figure: str, samples: list[float], goal: float, unit: str) -> None:
    scale = {"us": 1e6, "s": 1.0, "ratio": 1.0}[unit]
    REACHED.append((figure, statistics.median(samples) * scale, goal, unit))


def ratios(samples: dict[str, list[float]], of: str, base: str) -> list[float]:
    return [a / b for a, b in zip(samples[of], samples[base])]


def differences(samples: dict[str, list[float]], of: str, without: str) -> list[float]:
    return [a - b for a, b in zip(samples[of], samples[without])]


def tell_goals() -> None:
    print("Goals")
    for figure, value, goal, unit in REACHED:
        verdict = "reached" if value <= goal else "missed"
        print(f"  {figure:42} {value:9.4f} {unit:5}  goal {goal:g}: {verdict}")


def tell(figure: str, samples: dict[str, list[float]], base: str = "") -> None:
    print(figure)
    for name, values in samples.items():
        ratio = ""
        if base and name != base:
            low, middle, high = statistics.quantiles(ratios(samples, name, base), n=4)
            ratio = f"  {middle:.4f} [{low:.4f}, {high:.4f}] of {base}"
        print(f"  {name:34} {quartiles(values)}{ratio}")


def tell_difference(figure: str, samples: dict[str, list[float]], of: str, without: str) -> None:
    tell(figure, samples)
    print(f"  {'difference':34} {quartiles(differences(samples, of, without))}")


def relu_network(op_type: str = "Relu", domain: str = "") -> d5.Network:
    network = d5.Network("one")
    network.add_input("x", "float32", [1])
    network.add_node(op_type, ["x"], ["y"], domain=domain)
    network.add_output("y")
    return network


class Hook(d5.Event):
    def before_pass(self, direction: str) -> None: ...


@d5.operator("Same", domain="benchmark")
class Same(d5.Operator):
    def forward(self, context: d5.OpContext) -> None: ...


class NumpySgd(d5.ThreeStepOptimizer):
    def __init__(self, learning_rate: float = 0.01) -> None:
        self.learning_rate = np.float32(learning_rate)

    def update_rule(self, gradient: d5.Tensor, parameter: d5.Parameter) -> None:
        value = parameter.value.numpy()
        value -= self.learning_rate * gradient.numpy()


class Digits(d5.Dataset):
    """MNIST's samples, read in Python."""

    def __init__(self) -> None:
        super().__init__()
        inner = d5.dataset("mnist").train
        self.samples = [{name: value.numpy().copy() for name, value in inner[i].items()} for i in range(2048)]

    def __len__(self) -> int:
        return len(self.samples)

    def fields(self) -> Any:
        return {name: (str(value.dtype), list(value.shape)) for name, value in self.samples[0].items()}

    def read(self, index: int, seed: int, epoch: int) -> dict[str, Any]:
        return self.samples[index]


def calls(rounds: int, seconds: float) -> None:
    x = np.ones(1, np.float32)
    tensors: dict[str, Call] = {"d5.Tensor(array).numpy()": lambda: d5.Tensor(x).numpy()}
    plain, hooked = d5.executor(relu_network()), d5.executor(relu_network())
    hooked.add_event(Hook())
    own = d5.executor(relu_network("Same", "benchmark"))
    feed = {"x": x}
    runs: dict[str, Call] = {
        "inference": lambda: plain.inference(feed),
        "inference, copy=False": lambda: plain.inference(feed, copy=False),
    }
    if torch:
        torch.set_num_threads(1)
        tensors["torch.from_numpy(array).numpy()"] = lambda: torch.from_numpy(x).numpy()

        def by_torch() -> Any:
            with torch.inference_mode():
                return torch.relu(torch.from_numpy(x))

        runs["torch.relu"] = by_torch
    samples = in_turns(tensors, rounds, seconds)
    tell("An array there and back", samples, "torch.from_numpy(array).numpy()" if torch else "")
    reach("an array there and back", samples["d5.Tensor(array).numpy()"], 1.5, "us")
    samples = in_turns(runs, rounds, seconds)
    tell("A network of one element, fed with NumPy", samples, "torch.relu" if torch else "")
    reach("inference of one element", samples["inference"], 2.5, "us")
    two: dict[str, Call] = {"with a hook": lambda: hooked.inference(feed), "without": lambda: plain.inference(feed)}
    samples = in_turns(two, rounds, seconds)
    tell_difference("A hook, before each pass", samples, "with a hook", "without")
    reach("a hook", differences(samples, "with a hook", "without"), 0.5, "us")
    two = {"an operator in Python": lambda: own.inference(feed), "Relu": lambda: plain.inference(feed)}
    samples = in_turns(two, rounds, seconds)
    tell_difference("The call of an operator", samples, "an operator in Python", "Relu")
    reach("an operator in Python", differences(samples, "an operator in Python", "Relu"), 2, "us")


def trainer(optimizer: Any, data: Any, threads: int = 0) -> Call:
    executor = d5.executor(d5.model("lenet", with_loss=True, seed=1))
    sampler = d5.sampler("shuffle", data, batch_size=64, seed=1)
    sampler.read_ahead(threads)
    made = d5.optimizer(optimizer(), executor) if callable(optimizer) else d5.optimizer(optimizer, executor)
    epoch = [0]

    def run() -> None:
        epoch[0] += 1
        d5.Trainer(made, sampler, epochs=1).run()

    return run


def training(rounds: int, quick: bool) -> None:
    digits = d5.subset(d5.dataset("mnist").train, list(range(512 if quick else 2048)))
    optimizers = {"sgd in C++": trainer("sgd", digits), "sgd in NumPy": trainer(NumpySgd, digits)}
    samples = in_turns(optimizers, rounds, 0)
    tell("An epoch of LeNet, batches of 64", samples, "sgd in C++")
    reach("SGD in NumPy over C++'s", ratios(samples, "sgd in NumPy", "sgd in C++"), 1.05, "ratio")
    in_python = d5.subset(Digits(), list(range(512 if quick else 2048)))
    sets = {
        "data set in C++": trainer("sgd", digits),
        "in Python": trainer("sgd", in_python),
        "in Python, read ahead": trainer("sgd", in_python, threads=1),
    }
    tell("The same, by where samples are read", in_turns(sets, rounds, 0), "data set in C++")


def beside_the_program(rounds: int, quick: bool) -> None:
    """Times steps and an epoch of one recipe, from Python and by the program, in turns."""
    how = ["training.epochs=1", f"training.most_batches={40 if quick else 400}"]
    metrics = ["batch_time", "epoch_time"]
    words = ["train", "mnist-lenet-quick", *(word for one in how for word in ("--set", one))]
    words += [*(word for one in metrics for word in ("--metrics", one)), "--format", "json", "--quiet"]

    def from_python() -> dict[str, float]:
        rows, _ = d5.train("mnist-lenet-quick", set=how, metrics=metrics)
        return {row.metric: statistics.median(row.samples) for row in rows if row.metric in metrics}

    def by_program() -> dict[str, float]:
        done = subprocess.run([sys.executable, "-m", "d5", *words], stdout=subprocess.PIPE)
        rows = json.loads(done.stdout)["measurements"]
        return {row["metric"]: statistics.median(row["samples"]) for row in rows if row["metric"] in metrics}

    runs: dict[str, Callable[[], dict[str, float]]] = {"the program": by_program, "d5.train": from_python}
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in runs}
    for i in range(rounds):
        for name in list(runs)[:: 1 if i % 2 == 0 else -1]:
            taken[name].append(runs[name]())
    for metric, what in zip(metrics, ("A batch of LeNet by recipe", "An epoch of LeNet by recipe")):
        samples = {name: [one[metric] for one in all_of_it] for name, all_of_it in taken.items()}
        tell(what, samples, "the program")
        reach(f"{metric} from Python over the program's", ratios(samples, "d5.train", "the program"), 1.001, "ratio")


def imports(rounds: int) -> None:
    def begin(code: str) -> Call:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    both = {"import d5": begin("import d5"), "import numpy": begin("import numpy")}
    samples = in_turns(both, rounds, 0)
    tell_difference("Importing, with the interpreter's start", samples, "import d5", "import numpy")
    reach("import d5, beyond numpy", differences(samples, "import d5", "import numpy"), 0.2, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tries it: figures are not to be trusted")
    quick = parser.parse_args().quick
    rounds, seconds = (3, 0.01) if quick else (31, 0.1)
    calls(rounds, seconds)
    training(3 if quick else 11, quick)
    beside_the_program(3 if quick else 15, quick)
    imports(3 if quick else 15)
    tell_goals()


if __name__ == "__main__":
    main()
