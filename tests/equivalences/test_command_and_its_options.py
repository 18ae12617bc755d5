# SPDX-License-Identifier: Apache-2.0
"""Options of a run, and those of the lines that measure it again: `command` of its records and of the run in a database.

Every command that keeps records has cases in `CASES`. Together they give every option of the command: those of
a case's `given`, and in the first case all others with a value that is drawn by their kind. An option that no value
is known for, and that no table excuses, fails here.
"""

import dataclasses
import functools
import random
import re
import shlex
import sqlite3
import subprocess

import d5 as module
import numpy
import pytest
from conftest import PROGRAM, SEED, SOURCE, of_all_buildings
from test_run_and_its_command import key_of
from toy_evaluation import write_toy

# (name, command or "") of options that change no number, with the reason, as the program has them.
ASIDE = {
    (name, command): why
    for name, why, command in re.findall(
        r'AsideOption\{"(--[a-z-]+)",\s*"([^"]+)"(?:,\s*"([^"]+)")?\}', (SOURCE / "apps/aside_options.hpp").read_text()
    )
}
# Options that choose pieces, of which each has a line of its own.
CHOOSING = {"--filter"}
LEFT_OUT = {
    "--device": "needs a device besides the host",
    "--help": "ends the command",
}
DRAWN = {"N": lambda draw: draw.randint(2, 5), "S": lambda draw: draw.choice((2, 2.5, 3)), "": lambda draw: None,
         "REGEX": lambda draw: "."}
ANY_VERDICT = (0, 1, 3)
WORDS = re.compile(r"[a-z0-9-]+(\|[a-z0-9-]+)+")


@dataclasses.dataclass
class Case:
    command: str
    words: tuple = ()
    given: dict = dataclasses.field(default_factory=dict)  # None: a flag; a tuple: given several times
    said: dict = dataclasses.field(default_factory=dict)  # option: how a line says it in other words
    some: tuple = ()  # options that matter to a part of the records
    named: tuple = ()  # conditions that name a variant beside the others, and so not in a run of its own
    left_out: dict = dataclasses.field(default_factory=dict)  # option: why
    ranks: int = 1  # started by mpirun
    draws: bool = True  # takes the options that no case gives


MEASURED = {"--samples": 6, "--warmup": 2, "--seconds-per-sample": 0.0002}
WATCHED = {**MEASURED, "--metrics": "page_faults"}
LOADED = {"--load": "parts.py", "--seed": 5, "--threads": 1}
REDUCES = "the line of a reduction shows its smallest case"
OPEN = {"--batch": 3, "--dim": "length=5", "--transform": "dead-code", "--place": "Relu=reference"}
TRAIN = ("mnist-lenet-quick",)
SHORT = ("training.epochs=1", "training.most_batches=3")
IMPORTANT = {"--wire": "9us,2GB/s", "--timeout": "50s", "--progress": "thread", "--mpi-bytes": None}
CASES = [
    Case("op bench", ("Relu 8x8",), {**WATCHED, **LOADED, "--pass": "forward", "--framework": "reference",
         "--isolate": 60, "--filter": "R.lu"}),
    Case("op bench", ("Relu 8x8",), {"--samples": 6, "--pass": "forward", "--framework": "reference,planted",
         "--load": "planted_framework.py"}, draws=False),
    Case("op check", ("Gemm 2x3 3x2",), {**LOADED, "--rtol": 0.25, "--atol": 0.5, "--isolate": 60, "--framework": "reference"},
         some=("--exact", "--rtol", "--atol", "--norms", "--repeat"), left_out={"--reduce": REDUCES, "--most-seconds": REDUCES}),
    Case("op judge", (str(SOURCE / "tests/level0_ops/judge/controls/gradient.cpp"),), {"--for": "MatMul 4x5 5x3", "--samples": 6, "--seed": 5,
         "--threads": 1, "--against": "reference", "--forbid": "torch", "--memory": 1 << 28, "--call-seconds": 20, "--compile-seconds": 50}),
    Case("net bench", ("relu.onnx",), {**OPEN, **WATCHED, **LOADED, "--memory": "64MiB",
         "--framework": "reference"}, left_out={"--recompute": "is for training"}),
    Case("net bench", ("relu.onnx",), {"--input": "x=x.npy", "--samples": 6}, draws=False),
    Case("net bench", ("lenet",), {"--samples": 6, "--training": None, "--recompute": "auto", "--memory": "1GiB"},
         some=("--training",), draws=False),
    Case("net bench", ("Gemm 8x4 4x3",), {"--samples": 6, "--training": None, "--loss": "mse"},
         some=("--training", "--loss"), draws=False),
    Case("net check", ("relu.onnx",), {**OPEN, **LOADED, "--rtol": 0.25, "--atol": 0.5, "--memory": "64MiB", "--framework": "reference",
         "--by-node": None}, left_out={"--slower": "needs a slow framework"}),
    Case("net check", ("lenet",), {"--against": "planted+reference", "--load": "planted_framework.py", "--numeric": 1, "--backward": None,
         "--recompute": "auto", "--memory": "1GiB"}, draws=False),
    Case("net check", ("relu.onnx",), {"--input": "x=x.npy", "--reduce": "few", "--isolate": 20, "--most-seconds": 30}, draws=False),
    Case("net run", ("relu.onnx",), {**OPEN, **LOADED, "--memory": "64MiB", "--recompute": "auto", "--framework": "reference",
         "--output": "y=y.npy"}),
    Case("net run", ("relu.onnx",), {"--input": "x=x.npy", "--seed": 5}, draws=False),
    Case("data bench", ("mnist:subset=sample",), {**LOADED, **MEASURED, "--sampler": "ordered"}),
    Case("optimizer check", ("sgd",), {**LOADED, "--against": "momentum:momentum=0", "--framework": "planted+reference",
         "--load": "planted_framework.py", "--picture": "p.svg"}),
    Case("sampler check", ("shuffle",), {**LOADED, "--dataset": "mnist:subset=sample:test_samples=20"}),
    Case("compare", ("Relu 8", "Tanh 8"), {**WATCHED, **LOADED, "--fail-above": 1e9, "--retry": 1, "--most-seconds": 1,
         "--framework": "reference"}, said={"--framework": "--framework reference,reference"},
         left_out={"--batch": "is for networks", "--only": "is for files"}),
    Case("compare", ("lenet", "lenet"), {"--samples": 6, "--batch": 2}, draws=False),
    Case("train", TRAIN, {**LOADED, "--set": SHORT, "--metrics": "dataset_bias", "--framework": "reference", "--memory": "1GiB",
         "--recompute": "auto", "--place": "Relu=reference", "--checkpoint": "run.ckpt", "--save": "net.onnx", "--init": "start.onnx",
         "--wire": "9us,2GB/s", "--timeout": "50s"}, said={"--seed": "--set training.seed=5"},
         left_out={"--fault": "breaks the run off", "--data": "is the folder that is known", "--mpi-bytes": "an all-reduce's",
                   "--make-reference": "writes a recipe", "--ranks": "another case's", "--dry-run": "measures nothing"}),
    Case("train", TRAIN, {"--ranks": 2, "--set": SHORT, "--distributed": "consistent_decentralized:bucket_bytes=64KiB",
         "--scaling": "weak", "--check-ranks": 2}, said={"--ranks": "mpirun -np 2 ", "--scaling": "--set distributed.scaling=weak",
         "--distributed": "--set distributed.name=consistent_decentralized:bucket_bytes=64KiB"}, draws=False),
    Case("train", TRAIN, {"--set": SHORT, "--repeat": 2, "--vary": "optimizer.learning_rate=0.02,0.03", "--pictures": "drawn"},
         said={"--vary": "optimizer.learning_rate=0.0", "--pictures": "--metrics dataset_latency"}, some=("--vary", "--repeat", "--pictures"),
         named=("optimizer.learning_rate",), draws=False),
    Case("train", ("ranged.yaml",), {"--set": SHORT, "--trials": 2}, said={"--trials": "--set optimizer.learning_rate=0.0"},
         named=("optimizer.learning_rate",), draws=False),
    Case("scale", TRAIN, {"--ranks": "1,2", "--distributed": "consistent_neighbors", "--mode": "weak", "--repeat": 1, "--set": SHORT,
         "--metrics": "dataset_bias", "--train": "--loader-threads 1", "--framework": "reference", "--load": "parts.py", "--threads": 1},
         said={"--ranks": "mpirun -np 2 ", "--distributed": "consistent_neighbors", "--mode": "weak", "--train": "--loader-threads 1"},
         some=("--ranks", "--distributed", "--mode", "--repeat"), named=("ranks",), left_out={"--data": "is the folder that is known"}),
    Case("all-reduce bench", ("ring", "mpi"), {**LOADED, **IMPORTANT, **MEASURED, "--sizes": "64B", "--most-seconds": 60},
         ranks=2, left_out={"--deepbench": "gives sizes, as --sizes does", "--cold-cache": "is for one process"}),
    Case("all-reduce check", ("ring",), {**LOADED, **IMPORTANT}, ranks=2),
    Case("predict", ("lenet",), {**LOADED, "--batch": 2, "--ranks": "2", "--steps": 2, "--least-time": "1ms",
         "--launches": 1, "--strategy": "buckets:bytes=25MiB", "--distributed": "consistent_decentralized:all_reduce=ring",
         "--optimizer": "sgd:learning_rate=1e-9", "--budget": "50s", "--step-budget": "80s", "--model": "closed", "--keep": "kept",
         "--wire": "9us,2GB/s", "--memory": "1GiB", "--place": "Relu=reference", "--framework": "reference"},
         left_out={"--measure": "another case's", "--recompute": "as --memory", "--force": "is for another machine's profile",
                   "--map": "is a file of the machine; prediction/contention_test.cpp",
                   "--graph": "is written, and changes no number; test_step_and_its_trace.py"}),
    Case("predict", ("lenet",), {"--batch": 2, "--measure": "1", "--ranks": "2", "--cluster": "ethernet-25g", "--steps": 2, "--least-time": "1ms", "--launches": 1}, draws=False),
    Case("overlap map", ("Gemm 64x64 64x64",), {**LOADED, "--all-reduce": "ring", "--bytes": "64KiB", "--pairs": 6, "--rounds": 2,
         "--budget": "20s", "--resources": "threads=0", "--framework": "reference", "--wire": "9us,2GB/s", "--timeout": "50s", "--ranks": 2},
         left_out={"--model": "another case's", "--batch": "another case's", "--scale": "is for the study's kernels", "--mpi-bytes": "an all-reduce's"}),
    Case("overlap map", (), {"--model": "mlp", "--batch": 2, "--pairs": 6, "--rounds": 1, "--budget": "1s", "--resources": "threads=0"},
         draws=False),
    Case("overlap search", (), {**LOADED, "--models": "mlp", "--batch": 2, "--resources": "default", "--buckets": "64KiB",
         "--all-reduce": "ring", "--rounds": 2, "--steps": 1, "--budget": "20s", "--framework": "reference", "--wire": "9us,2GB/s",
         "--timeout": "50s", "--ranks": 2}, left_out={"--mpi-bytes": "an all-reduce's"}),
    Case("eval run", ("toy.yaml",), {**LOADED, "--framework": "reference", "--scenario": "closed_loop:users=2", "--batch": 2, "--queries": 6,
         "--seconds": 0.01, "--instances": 2, "--longest-wait": 0.002, "--stage-threads": 2, "--trace-level": "model",
         "--ttft-limit": 5, "--tpot-limit": 4, "--latency-limit": 3,
         "--dataset": "colours.yaml", "--split": "half", "--price": 1.5, "--currency": "EUR", "--isolate": 50},
         left_out={"--repetitions": "a line is of one", "--locked": "fixes all others", "--server": "another test's", "--on": "of --server",
                   "--task": "a line names one model"}),
    Case("eval find-peak", ("toy.yaml",), {**LOADED, "--slo": "p90<=0.12345678s", "--framework": "reference", "--scenario": "poisson",
         "--batch": 2, "--queries": 6, "--seconds": 0.01, "--longest-wait": 0.002, "--first-rate": 90, "--highest-rate": 200,
         "--lowest-rate": 20, "--tolerance": 0.5, "--longer": 0, "--dataset": "colours.yaml", "--split": "half"},
         left_out={"--trace-level": "no run is traced", "--repetitions": "a search is one", "--instances": "as --stage-threads",
                   "--ttft-limit": "is of tokens", "--tpot-limit": "is of tokens", "--latency-limit": "another case's",
                   "--task": "a line names one model"}),
    Case("eval find-peak", ("toy.yaml",), {"--slo": "attainment>=0.5,p50<=9s", "--framework": "reference", "--queries": 6,
         "--latency-limit": 3, "--first-rate": 90, "--highest-rate": 90, "--longer": 0}, draws=False),
]
# Cases whose line is run again: a few, because each takes as long again.
AGAIN = random.Random(SEED).sample(range(len(CASES)), 8)
ALIKE = {f"{kind} {verb}": f"all-reduce {verb}" for kind in ("broadcast", "reduce-scatter", "all-gather") for verb in ("bench", "check")}
NO_RECORDS = {
    "cluster calibrate": "its file is the records that a description was fitted to",
    "env": "its file is an environment alone",
    "profile": "its file is a profile, which predict reads",
    "report": "its file is records that others measured",
}


@functools.cache
def asked(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def commands():
    return {path.strip() for path in re.findall(r"^\.SS d5 ([a-z0-9 -]+?)(?: \[?[A-Z].*)?$", asked("man"), re.M)}


def options_of(command):
    """The options of the command's help: name and what stands for the value, "" for a flag."""
    found = re.findall(r"^  (?:-[a-z],)?(--[a-z-]+)(?:, ?--[a-z-]+)*(?: (?!Needs:)([^\s]+))?", asked(*command.split(), "--help"), re.M)
    assert found, command
    return dict(found)


def is_aside(command, option):
    return (option, "") in ASIDE or (option, f"d5 {command}") in ASIDE


def words_of(given):
    words = []
    for option, value in given.items():
        for one in value if isinstance(value, tuple) else (value,):
            words += [option] if one is None else [option, str(one)]
    return words


def same(value):
    """A value without its spelling: 64KiB is 65536."""
    number = re.fullmatch(r"([0-9.e+-]+)(KiB|MiB|GiB|B)?", value)
    if not number:
        return value
    try:
        return float(number[1]) * {None: 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[number[2]]
    except ValueError:
        return value


def read_line(line):
    """The words before d5, the positional words, and the options with their values, as the program reads them."""
    words = shlex.split(line)
    start = words.index("d5")
    both = " ".join(words[start + 1 : start + 3])
    options = options_of(both if both in commands() else words[start + 1])
    positional, given = [], {}
    rest = iter(words[start + 1 :])
    for word in rest:
        if not word.startswith("--"):
            positional.append(word)
            continue
        assert word in options, f"{word} of {line}"
        value = same(next(rest)) if options[word] else None
        given.setdefault(word, []).extend(value.split(",") if word == "--metrics" else [value])
    return words[:start], positional, given


def drawn(case, options, draw):
    """What the case gives, with a value for each option that no case of its command gives."""
    given = dict(case.given)
    if not case.draws:
        return given
    mine = [one for one in CASES if one.command == case.command]
    known = set().union(*(one.given for one in mine), *(one.left_out for one in mine), LEFT_OUT)
    for option, value in options.items():
        if option in known or is_aside(case.command, option):
            continue
        if WORDS.fullmatch(value):
            given[option] = value.split("|")[-1]
        else:
            assert value in DRAWN, f"no value is known for {option} {value} of d5 {case.command}: give it one in CASES"
            given[option] = DRAWN[value](draw)
    return given


@pytest.fixture
def place(d5, monkeypatch):
    """The program in a folder with the files that cases name."""
    (d5.folder / "parts.py").write_text("")
    planted = (SOURCE / "tests/equivalences/planted_framework.py").read_text()
    (d5.folder / "planted_framework.py").write_text(planted)
    numpy.save(d5.folder / "x.npy", numpy.ones((3, 5), "float32"))
    network = module.Network("relu")
    network.add_input("x", "float32", ["N", "length"])
    network.add_node("Relu", ["x"], ["y"])
    network.add_output("y")
    network.save(d5.folder / "relu.onnx")
    d5("net", "save", "lenet", "start.onnx")
    recipe = (SOURCE / "recipes/mnist-lenet-quick.yaml").read_text()
    ranges = "ranges:\n  optimizer.learning_rate: {least: 0.01, most: 0.03}\n"
    (d5.folder / "ranged.yaml").write_text(recipe + ranges)
    return d5


def run_case(place, case, given):
    launcher = ("mpirun", "--oversubscribe", "-np", case.ranks) if case.ranks > 1 else ()
    return place.records(*case.command.split(), *case.words, *words_of(given), "--database", "runs.db", status=ANY_VERDICT, launcher=launcher)


def kept_line(place):
    with sqlite3.connect(place.folder / "runs.db") as database:
        ((line,),) = database.execute("SELECT command FROM run")
    return line


@of_all_buildings
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command} {' '.join(case.words)}".replace(" ", "-"))
def test_lines_say_what_was_given(place, draw, case, monkeypatch):
    if case.command.startswith("eval "):
        monkeypatch.setenv("D5_DATA_DIR", str(place.folder))
        write_toy(place.folder)
    given = drawn(case, options_of(case.command), draw)
    first = run_case(place, case, given)
    lines = sorted({record["command"] for record in first})
    assert lines and all(lines), "each record has a command"
    expected = read_line(f"d5 {case.command} {shlex.join(words_of(given))}")[2]
    for option, values in expected.items():
        if is_aside(case.command, option) or option in CHOOSING:
            continue
        if option in case.said:
            says = [case.said[option] in line for line in lines]
        else:
            says = [set(values) <= set(read_line(line)[2].get(option, ())) for line in lines]
        assert any(says) if option in case.some else all(says), f"{option} {values} in {lines}"

    # The line of the whole run has the words as they were given.
    _, words, kept = read_line(kept_line(place))
    assert words == [*case.command.split(), *case.words]
    wanted = {name: values for name, values in expected.items() if not is_aside(case.command, name)}
    if "--threads" not in wanted:
        kept.pop("--threads", None)
    assert kept == wanted

    if case not in [CASES[i] for i in AGAIN]:
        return
    # The program reads a line as it was meant: it gives the same line, and the same records. A line of training
    # measures the passes of inference, too, which have a line of their own.
    line = draw.choice(lines)
    launcher = read_line(line)[0]
    words = shlex.split(line)[len(launcher) + 1 :]
    second = place.records(*words, status=ANY_VERDICT, launcher=tuple(launcher))
    assert {line} <= {record["command"] for record in second} <= set(lines)
    assert {key_of(r, case.named) for r in second} >= {key_of(r, case.named) for r in first if r["command"] == line}


@of_all_buildings
def test_every_command_that_keeps_records_has_a_case():
    keeping = {one for one in commands() if options_of(one).get("--out") == "FILE.json"}
    assert keeping - set(ALIKE) - set(NO_RECORDS) == {case.command for case in CASES}
    for command, other in ALIKE.items():
        assert options_of(command) == options_of(other), command


@of_all_buildings
def test_each_excuse_is_of_an_option_that_there_is():
    for name, command in ASIDE:
        if command and command.removeprefix("d5 ") in {case.command for case in CASES}:
            assert name in options_of(command.removeprefix("d5 ")), (name, command)
    for case in CASES:
        assert set(case.left_out) | set(case.given) <= set(options_of(case.command)), case.command
