# SPDX-License-Identifier: Apache-2.0
"""A generator's evaluation and its records' lines, and `d5.evaluate`: the same rows. PyTorch says what the loss is."""

import json
import shlex
import sys

import d5 as module
import pytest
from conftest import SOURCE, of_all_buildings
from test_run_and_its_command import key_of
from toy_evaluation import asset

torch = pytest.importorskip("torch")
pytestmark = of_all_buildings
TEXT = "Nine of ten were right."
WORDS = {"frameworks": "reference:most_tokens=4:capacity=64", "scenarios": "closed_loop:users=2,sessions:turns=2", "queries": 6}


@pytest.fixture
def toy(d5, monkeypatch):
    """Writes toy.yaml, a generator, and a folder of prompts."""
    monkeypatch.syspath_prepend(SOURCE / "tests/evaluation/generation")
    monkeypatch.setenv("D5_CACHE_DIR", str(d5.folder / "cache"))
    judge = __import__("llama_judge")
    (d5.folder / "toy").mkdir()
    judge.main(d5.folder / "toy")
    tokens = list(TEXT.encode())
    scores = judge.scores(judge.random_weights(), tokens[:-1])
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(tokens[1:])).item()
    files = [file for file in sorted((d5.folder / "toy").iterdir()) if file.name != "truth.json"]
    manifest = {
        "kind": "generator", "name": "toy", "version": "1.0.0-dev", "licence": "CC0-1.0", "format": "safetensors",
        "assets": [{"name": file.name, "urls": f"file://{file}", **asset(file)} for file in files],
        "losses": [{"text": TEXT, "loss": loss, "tolerance": 1e-6, "source": "PyTorch in float64"}],
    }
    (d5.folder / "toy.yaml").write_text(json.dumps(manifest))
    (d5.folder / "beginnings").mkdir()
    for name, text in {"a": "Once upon a time", "b": "First,"}.items():
        (d5.folder / "beginnings" / f"{name}.txt").write_text(text)
    yield loss
    sys.modules.pop("llama_judge")


def run(d5, *words):
    # A short run may never settle, so that its times are mistrusted; what is judged must have passed.
    records = d5.records("eval", "run", *words, status=(0, 1))
    assert {m["status"] for m in records if m["metric"] in ("loss", "regret")} <= {"passed"}
    return records


def options():
    return [word for name, flag in {"frameworks": "--framework", "scenarios": "--scenario", "queries": "--queries"}.items()
            for word in (flag, WORDS[name])]


def test_again(d5, toy):
    first = run(d5, d5.folder / "toy.yaml", "--dataset", d5.folder / "beginnings", *options())
    assert {"loss", "regret", "ttft", "itl", "tpot", "output_tokens"} <= {m["metric"] for m in first}
    losses = [m for m in first if m["metric"] == "loss"]
    assert len(losses) == 1
    assert losses[0]["samples"][0] == pytest.approx(toy, abs=1e-4)  # float32
    lines = sorted({m["command"] for m in first})
    assert len(lines) == 3, "the loss, and two scenarios"
    again = {key_of(m) for line in lines for m in run(d5, *shlex.split(line)[3:])}
    wanted = {key_of(m) for m in first}
    # A process of its own opens the generator again.
    opened = ("cold_start", "first_predict")
    assert {key for key in again if key[1] not in opened} == {key for key in wanted if key[1] not in opened}


def test_python(d5, toy, monkeypatch):
    monkeypatch.chdir(d5.folder)
    program = run(d5, d5.folder / "toy.yaml", "--dataset", d5.folder / "beginnings", *options(), "--isolate", 0)
    module.write_results(
        module.evaluate(d5.folder / "toy.yaml", dataset=str(d5.folder / "beginnings"),
                        frameworks=[WORDS["frameworks"]], scenarios=WORDS["scenarios"], queries=WORDS["queries"]),
        d5.folder / "python.json")
    python = json.loads((d5.folder / "python.json").read_text())["measurements"]

    def named(records):
        return {key_of(m, but=("pinning",)) for m in records}

    assert named(program) == named(python)
    exact = [[m["samples"] for m in records if m["metric"] in ("loss", "regret", "output_tokens")] for records in (program, python)]
    assert exact[0] == exact[1]
