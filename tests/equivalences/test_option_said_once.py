# SPDX-License-Identifier: Apache-2.0
"""An option that is declared once: the program's option, its help, a record's command and Python's keyword."""

import inspect
import pathlib
import re

import d5 as module
import pytest
from test_run_and_its_command import key_of

CASE = "Relu 4"
VALUES = {"N": 7, "S": 0.25}


def told_in_help(d5, *command, heading="Measuring"):
    """Names of the options under `heading`, with what stands for their values."""
    block = d5(*command, "--help").stdout.split(f"{heading}:\n")[1].split("\n\n")[0]
    return dict(re.findall(r"^ +--([a-z-]+)(?: ([A-Z,.|a-z]+))?", block, re.M))


def told_by_signature(function):
    """Names of the keywords."""
    return set(re.findall(r"(\w+): ", inspect.getdoc(function).splitlines()[0]))


def measuring(d5):
    return {name.replace("-", "_"): unit for name, unit in told_in_help(d5, "op", "bench").items()}


def test_every_command_that_measures_tells_the_same(d5):
    options = told_in_help(d5, "op", "bench")
    assert "samples" in options and "judge-seconds" in options
    for command in (("net", "bench"), ("data", "bench"), ("all-reduce", "bench"), ("compare",)):
        assert told_in_help(d5, *command) == options, command


def test_keywords_and_stubs(d5):
    names = set(measuring(d5))
    stub = pathlib.Path(module.__file__).with_name("_d5.pyi").read_text()
    for function in ("bench", "bench_network", "bench_dataset", "bench_collective", "compare_subjects"):
        assert names <= told_by_signature(getattr(module._d5, function)), function
        signature = next(line for line in stub.splitlines() if line.startswith(f"def {function}("))
        assert names <= set(re.findall(r"(\w+): ", signature)), function


def test_a_value_in_commands_of_program_and_python(d5):
    for name, unit in measuring(d5).items():
        flag = "--" + name.replace("_", "-")
        words = (flag, VALUES[unit]) if unit else (flag,)
        short = () if name == "samples" else ("--samples", 6)
        program = d5.records("op", "bench", CASE, "--pass", "forward", *short, *words, status=(0, 1))
        keywords = {name: VALUES[unit] if unit else True} | ({} if name == "samples" else {"samples": 6})
        python = module.bench(CASE, passes="forward", **keywords)
        said = " ".join(str(word) for word in words)
        for record in program:
            assert said in record["command"], name
        assert {m["command"] for m in program} == {m.command for m in python}, name


def defaults_in_help(d5, *command, heading):
    """What the help says that holds where an option is not given."""
    block = d5(*command, "--help").stdout.split(f"{heading}:\n")[1].split("\n\n")[0]
    options = re.split(r"^ +(?=--)", block, flags=re.M)
    found = [re.match(r"(--[a-z-]+) .*\(default\s+(\S+)\)", option, re.S) for option in options]
    return [word for match in found if match for word in match.groups()]


@pytest.mark.parametrize("words, heading, count", (
    (("op", "bench", CASE, "--pass", "forward"), "Measuring", 5),
    (("net", "check", "lenet"), "Checking", 3),
    (("train", "mnist-lenet-quick", "--set", "training.epochs=1", "--set", "training.most_batches=3"), "Under mpirun", 2),
))
def test_defaults_in_the_help_are_those_that_hold(d5, words, heading, count):
    defaults = defaults_in_help(d5, *words[:1 if words[0] == "train" else 2], heading=heading)
    assert len(defaults) == 2 * count, defaults
    left_out, given = (d5.records(*words, *more, status=(0, 1)) for more in ((), defaults))
    assert [r["command"] for r in given] == [r["command"] for r in left_out]
    assert [key_of(r) for r in given] == [key_of(r) for r in left_out]


def test_a_refusal_names_option_and_keyword(d5):
    refused = d5("op", "bench", CASE, "--samples", 0, status=2)
    assert "--samples: '0' given, expected an integer >= 1" in refused.stderr
    with pytest.raises(module.ValueError, match="d5.bench: option samples is '0', expected an integer >= 1"):
        module.bench(CASE, samples=0)
    with pytest.raises(module.TypeError, match="no keyword 'sampels'; did you mean 'samples'"):
        module.bench(CASE, sampels=3)


EVALUATION = ("dataset", "split", "queries", "seconds", "ttft_limit", "tpot_limit", "latency_limit", "instances", "longest_wait",
              "stage_threads", "repetitions")


@pytest.mark.skipif(not hasattr(module._d5, "evaluate"), reason="d5 was built without evaluation")
def test_fields_of_an_evaluation(d5):
    told = {name.replace("-", "_") for name in told_in_help(d5, "eval", "run", heading="Evaluation")}
    assert told == {*EVALUATION, "scenario", "batch", "trace_level", "no_accuracy"}
    keywords = {*EVALUATION, "scenarios", "batches", "trace_levels", "accuracy", "frameworks", "seed", "threads"}
    for function in ("evaluate", "evaluation_lock"):
        assert keywords <= told_by_signature(getattr(module._d5, function)), function
        assert "scenarios: collections.abc.Sequence[str] | None = None" in inspect.getdoc(getattr(module._d5, function))
    with pytest.raises(module.ValueError, match="d5.evaluate: option trace_levels: 'modl' given, expected none or"):
        module.evaluate("efficientnet-lite0", trace_levels=["modl"])
    refused = d5("eval", "run", "mine.yaml", "--trace-level", "modl", status=2).stderr
    assert "error: --trace-level: 'modl' given, expected none or" in refused
