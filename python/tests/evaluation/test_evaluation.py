# SPDX-License-Identifier: Apache-2.0
"""Evaluations from Python, with parts of their pipelines written in Python: a model that tells red,
green and blue pictures apart, whose answers can be found by hand."""

import hashlib
import struct
import zlib
from typing import Any, cast

import numpy as np
import pytest

import d5


def png(pixels):
    """An image of uint8 {height, width, 3}, uncompressed but for zlib."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def asset(data):
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


@pytest.fixture
def colours(tmp_path, monkeypatch):
    """A function of the model's steps and measures that gives its manifest's file."""
    monkeypatch.setenv("D5_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "colours").mkdir()
    samples = []
    for i in range(12):
        pixels = np.zeros((16, 16, 3), np.uint8)
        pixels[..., i % 3] = 200
        file = tmp_path / "colours" / f"p{i:02}.png"
        file.write_bytes(png(pixels))
        samples.append({"file": file.name, "label": i % 3, **asset(file.read_bytes())})
    network = d5.Network("toy")
    network.add_input("image", "float32", ["N", 3, 16, 16])
    network.add_node("GlobalAveragePool", ["image"], ["pooled"])
    network.add_node("Flatten", ["pooled"], ["means"])
    network.add_output("means")
    network.save(tmp_path / "toy.onnx")
    write(tmp_path / "colours.yaml", kind="dataset", name="colours", folder="colours", samples=samples, **WHO)

    def model(steps=("decode",), answer=({"name": "top_k", "k": 2},), measure="top1", value=1.0):
        steps = [*steps, {"name": "normalise", "values": "bytes", "mean": 127, "deviation": 128}]
        return write(
            tmp_path / "toy.yaml",
            kind="model",
            name="toy",
            assets=[{"name": "toy.onnx", "urls": f"file://{tmp_path}/toy.onnx", **asset((tmp_path / "toy.onnx").read_bytes())}],
            inputs=[{"name": "image", "shape": [3, 16, 16], "steps": steps}],
            outputs=[{"name": "means"}],
            answer=list(answer),
            accuracy=[
                {"dataset": str(tmp_path / "colours.yaml"), "measure": measure, "value": value, "source": "by construction"}
            ],
            **WHO,
        )

    return model


WHO = {"version": "1.0.0-dev", "task": "colours", "licence": "CC0-1.0"}


def write(file, **manifest):
    import json

    file.write_text(json.dumps(manifest))
    return file


def test_a_models_accuracy_and_time_are_rows(colours, tmp_path):
    rows = d5.evaluate(colours(), scenarios=["closed_loop"], queries=10, out=tmp_path / "r.json")
    assert [row.value for row in rows.where(metric="top1")] == [1.0]
    assert rows.where(metric="latency")[0].status in ("passed", "mistrusted")  # as the machine is
    assert {row["subject"] for row in rows.rows()} == {"toy@1.0.0-dev"}
    assert len(d5.read_results(tmp_path / "r.json")) == len(rows)
    table, _ = d5.analyse("latency", [tmp_path / "r.json"])
    assert len(table) == 1


@d5.register("tests-most")
class Most(d5.Analysis):
    def analyse(self, runs):
        return [{"run": name, "rows": len(rows)} for name, rows, _ in runs]


def test_an_analysis_in_python_sees_the_rows(colours, tmp_path):
    rows = d5.evaluate(colours(), scenarios=[], out=tmp_path / "r.json")
    table, plots = d5.analyse("tests-most", [tmp_path / "r.json"])
    assert table.columns == ["run", "rows"] and table.rows[0][1] == str(len(rows)) and not plots


def test_an_evaluation_is_a_dict_too_and_a_database_keeps_its_answers(colours, tmp_path):
    rows = d5.evaluate({"models": [str(colours())], "scenarios": [], "batches": [4]}, database=tmp_path / "all.db")
    assert [row.value for row in rows.where(metric="top1")] == [1.0]
    database = d5.Database(tmp_path / "all.db")
    [run] = database.runs()
    assert run["records"] == len(rows) == len(database.results(run["id"][:8])) == len(database.measurements(metric="*"))
    [piece] = [one for one in database.pieces(run["id"]) if one["kind"] == "answers"]
    answers = database.answers(run["id"], piece["name"])
    assert [one["sample"] for one in answers] == list(range(12)) and all(one["score"] == 1 for one in answers)
    assert database.sql("SELECT COUNT(*) FROM measurement").rows == [[str(len(rows))]]
    with pytest.raises(d5.NotFound, match="metrc"):
        database.runs(metrc="top1")


def test_what_was_whole_when_it_is_resumed_is_one_run(colours, tmp_path):
    for _ in range(2):
        d5.evaluate(colours(), scenarios=[], out=tmp_path / "r.json", resume=True, database=tmp_path / "all.db")
    assert len(d5.Database(tmp_path / "all.db").runs()) == 1
    assert not list(tmp_path.glob("*.run"))


@d5.register("tests-blue-first")
class BlueFirst(d5.SampleStep):
    """Red becomes blue."""

    def run(self, sample, seed):
        return sample.numpy()[..., ::-1]


@d5.register("tests-doubled")
class Doubled(d5.AnswerStep):
    """Twice the classes."""

    def run(self, values):
        return {"classes": 2 * values["classes"].numpy()}


@d5.register("tests-near")
class Near(d5.AccuracyMeasure):
    """Right, or one beside it."""

    def __init__(self, most: int = 1):
        self.most = most

    def judge(self, answer, right):
        return float(abs(answer["classes"].numpy()[0] - right["label"].numpy().item()) <= self.most)


def test_a_step_an_answer_and_a_measure_in_python_are_a_models(colours):
    # Blue first: red (0) becomes 2 and blue becomes 0; green alone stays right.
    [row] = d5.evaluate(colours(steps=["decode", "tests-blue-first"], value=4 / 12), scenarios=[]).where(metric="top1")
    assert (row.value, row.status) == (pytest.approx(4 / 12), "passed")
    # Twice the class: 0, 2, 4 for 0, 1, 2; the first two are near.
    answer = [{"name": "top_k", "k": 2}, "tests-doubled"]
    rows = d5.evaluate(colours(answer=answer, measure="tests-near", value=8 / 12), scenarios=[])
    [row] = rows.where(metric="tests-near")
    assert (row.value, row.status, row.samples) == (pytest.approx(8 / 12), "passed", [1, 1, 0] * 4)


@d5.register("tests-means")
class Means(d5.Predictor):
    """The network's work in NumPy."""

    def __init__(self, model, largest_batch, scale: float = 1.0):
        assert largest_batch in (1, 3) and d5.open_model(model).output_names == ["means"]
        self.scale = np.float32(scale)

    def predict(self, inputs):
        return {"means": self.scale * inputs["image"].numpy().mean(axis=(2, 3))}


def test_a_predictor_in_python_answers(colours):
    rows = d5.evaluate(colours(), frameworks=["tests-means:scale=2.0"], scenarios=[], batches=[3])
    assert [row.value for row in rows.where(metric="top1")] == [1.0]
    predictor = d5.predictor("tests-means", colours().with_name("toy.onnx"), largest_batch=3)
    assert isinstance(predictor, d5.Predictor)
    assert isinstance(d5.predictor("reference", colours().with_name("toy.onnx")), d5.Predictor)


def test_what_is_wrong_with_a_manifest_is_told_at_its_place(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("kind: model\nname: m\nversion: 1.0.0\nlicense: MIT\n")
    assert (4, 1) in [(line, column) for line, column, _ in d5.lint_manifest(file)]
    assert any("licence" in what for *_, what in d5.lint_manifest(file))


def test_a_scenario_asks_a_function():
    asked = []
    rows = d5.run_scenario("closed_loop", asked.append, samples=4, queries=20, name="list")
    assert len(asked) == 20 and set(asked) <= set(range(4))
    assert {row.status for row in rows} == {"passed"} and rows.where(metric="latency")

    def fails(sample):
        raise ValueError("no answer")

    rows = d5.run_scenario("closed_loop", fails, samples=4, queries=5)
    assert {row.status for row in rows} == {"failed"} and "no answer" in rows[0].reason


def test_recorded_requests_have_their_lengths(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "book.txt").write_text("It was a bright cold day in April. " * 20)
    text = {**WHO, "task": "text generation"}
    reader = {"name": "text", "data": "book.txt", "length": 16, "test_share": 0.5}
    prompts = write(tmp_path / "prompts.yaml", kind="dataset", name="prompts", modality="text", reader=reader, **text)
    model = write(tmp_path / "ticks.yaml", kind="model", name="ticks", format="none", **text)
    lengths = [3, 1, 8, 5]
    lines = [f"{100 + i},GPT-4,{20 + i},{n},{20 + i + n},API log" for i, n in enumerate(lengths)]
    trace = tmp_path / "trace.csv"
    trace.write_text("\n".join(["Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type", *lines]) + "\n")
    rows = d5.evaluate(model, dataset=prompts, frameworks=["clockwork:first=0.002:gap=0.001"],
                       scenarios=[f"recorded:file={trace}:rate=100"])
    [tokens] = rows.where(metric="output_tokens")
    assert tokens.samples == lengths
    assert tokens.conditions["lengths"] == "recorded" and tokens.conditions["trace"] == "burstgpt"


def test_the_best_that_will_do_is_chosen(colours, tmp_path):
    d5.evaluate(colours(), scenarios=["closed_loop"], queries=10, out=tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()  # as of a quiet machine: what is doubted is not chosen
    (tmp_path / "r.json").write_text(text.replace('"mistrusted"', '"passed"'))
    table, [row] = d5.choose([tmp_path / "r.json"], {"accuracy": ">=0.9"}, minimise="p50")
    assert row["will_do"] and row["value"] > 0 and len(table) == 1
    _, [row] = d5.choose([tmp_path / "r.json"], {"p99": "<=1e-9s"}, maximise="throughput")
    assert not row["will_do"] and "p99" in row["why_not"]
    with pytest.raises(d5.ValueError, match="name an objective"):
        d5.choose([tmp_path / "r.json"])
    assert "accuracy" in d5.choice_numbers()


def test_a_lock_runs_while_nothing_is_another(colours, tmp_path):
    manifest = colours()
    assert d5.evaluation_lock(manifest, scenarios=[], out=tmp_path / "e.lock") == (tmp_path / "e.lock").read_text()
    rows = d5.evaluate(tmp_path / "e.lock", locked=True)
    assert [row.value for row in rows.where(metric="top1")] == [1.0]
    with pytest.raises(d5.ValueError, match="leave out all other options"):
        d5.evaluate(tmp_path / "e.lock", locked=True, queries=3)
    manifest.write_text(manifest.read_text().replace('"mean": 127', '"mean": 126'))
    with pytest.raises(d5.ValueError, match="another|differ"):
        d5.evaluate(tmp_path / "e.lock", locked=True)


def test_a_history_knows_the_best(colours, tmp_path):
    for _ in range(2):
        d5.evaluate(colours(), scenarios=[], database=tmp_path / "all.db")
    history = d5.Database(tmp_path / "all.db").history(metric="top1")
    first, second = history.rows()
    assert first["value"] == second["value"] == 1 and first["series"] == second["series"]
    assert first["is_best"] and first["is_record"] and not second["is_record"]  # it is no better
    assert len(history.table()) == len(history) == 2 and len(history.plots()) == 1


FAST: dict[str, Any] = {"first_rate": 2000, "highest_rate": 4000, "lowest_rate": 1000}


def test_the_highest_rate_at_which_an_objective_holds():
    peak = d5.find_peak(lambda sample: None, "p50<=20s", **FAST)
    assert peak.rate == 4000 and {step["verdict"] for step in peak.steps()} == {"holds"}

    def refuse(sample):
        raise RuntimeError("no")

    none = d5.find_peak(refuse, "p50<=20s", **FAST)
    assert none.rate == 0 and {step["verdict"] for step in none.steps()} == {"misses"}
    with pytest.raises(d5.ValueError, match="p99"):
        d5.find_peak(refuse, "fast")


def test_a_model_has_a_peak_too(colours):
    rows = d5.evaluate_peak(colours(), "p50<=20s", **FAST)
    [row] = rows.where(metric="peak_rate")
    assert row.value == 4000 and rows.where(metric="latency_at_rate")


def test_who_lies_and_who_remembers_is_found():
    import time

    honest = d5.audit_answers(lambda sample: np.array([sample], np.float32), samples=20)
    assert honest.where(metric="answers_differ")[0].status == "passed"
    random = np.random.default_rng(1)
    liar = d5.audit_answers(lambda sample: random.bytes(8), samples=20)
    [row] = liar.where(metric="answers_differ")
    assert row.status == "failed" and row.value == 1
    known = set()

    def remember(sample):
        if sample not in known:
            time.sleep(0.003)
        known.add(sample)
        return str(sample)

    [row] = d5.audit_answers(remember, samples=20).where(metric="repeat_ratio")
    assert row.status == "failed" and "cached results" in row.reason


def test_a_network_is_described_as_a_model(tmp_path):
    d5.model("lenet").save(tmp_path / "mine.onnx")
    (tmp_path / "mine.yaml").write_text(d5.described_model(tmp_path / "mine.onnx", name="digits"))
    assert [what for *_, what in d5.lint_manifest(tmp_path / "mine.yaml") if "licence" not in what] == []
    assert "name: digits\n" in (tmp_path / "mine.yaml").read_text()
    with pytest.raises(d5.IoError, match="nowhere"):
        d5.described_model(tmp_path / "nowhere.onnx")


def test_a_folder_is_described_as_a_data_set(tmp_path):
    for name, data in {"b/one.png": b"abc", "a/two.png": b""}.items():
        file = tmp_path / "kinds" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (tmp_path / "kinds.yaml").write_text(d5.described_folder(tmp_path / "kinds"))
    assert [what for *_, what in d5.lint_manifest(tmp_path / "kinds.yaml") if "licence" not in what] == []
    text = d5.described_folder(tmp_path / "kinds", name="two")
    assert "name: two\n" in text and 'labels: ["a", "b"]' in text
    # FIPS 180-2, appendix B.1
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in text
    with pytest.raises(d5.IoError, match="nowhere"):
        d5.described_folder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content, text",
    [
        ({"modles": ["mnist-lenet"]}, "^the evaluation: 'models' is missing; no key 'modles' here; did you mean 'models'\\?$"),
        ({"models": ["a"], "dataset": {"name": "b"}}, "^the evaluation: 'dataset' is a map, expected a text"),
        ({"models": ["a"], "scenarios": ["offline", "poison"]}, "^the evaluation: scenarios.1: scenario 'poison' is unknown; did you mean poisson"),
        ({"models": None}, "^the evaluation:models is None; expected a text"),
    ],
)
def test_a_fault_of_a_dict_is_told_with_its_place(content, text):
    with pytest.raises(d5.Error, match=text):
        d5.evaluate(content)


@pytest.mark.parametrize("option", ["batches", "trace_levels", "frameworks"])
def test_an_empty_list_with_which_nothing_would_be_measured_is_refused(option, colours):
    with pytest.raises(d5.ValueError, match=f"{option} is (empty|\\[\\])"):
        d5.evaluate({"models": [str(colours())]}, **cast(Any, {option: []}))


def test_a_manifest_lists_one_or_more_of_what_runs():
    given = {"kind": "evaluation", "name": "mine", "version": "1.0.0", "models": ["lenet"], "scenarios": []}
    for name in ("frameworks", "batches", "trace_levels"):
        faults = [what for *_, what in d5.lint_manifest({**given, name: []})]
        assert any(f"'{name}' is empty" in what for what in faults), faults
        with pytest.raises(d5.ValueError, match=f"d5.evaluate: {name} is \\[\\], expected one or more"):
            d5.evaluate("lenet", **cast(Any, {name: []}))
    assert not any("scenarios" in what for *_, what in d5.lint_manifest(given))


def test_options_of_an_evaluation_are_named():
    for name in ("out", "database"):
        with pytest.raises(d5.ValueError, match=f"d5.evaluate: {name} is '', expected a "):
            d5.evaluate("lenet", **cast(Any, {name: ""}))
    for words in ({"resume": "yes"}, {"steps": "x"}):
        [(name, value)] = words.items()
        with pytest.raises(d5.TypeError, match=f"^d5.evaluate: {name} is '{value}', expected bool"):
            d5.evaluate("lenet", frameworks="reference", **cast(Any, words))


@pytest.mark.parametrize(
    "error, field, text",
    [
        (d5.FormatError, {"queries": "20"}, "queries: the text '20' is not an integer"),
        (d5.FormatError, {"seconds": "0.5"}, "seconds: the text '0.5' is not a number"),
        (d5.FormatError, {"batches": ["1", 2]}, "batches: the text '1' is not an integer"),
        (d5.FormatError, {"accuracy": "true"}, "accuracy: 'true', expected true or false"),
        (d5.TypeError, {"scenarios": [{"name": "poisson", "rate": "50"}]}, "a scenario: rate is '50', expected float"),
    ],
)
def test_a_text_in_place_of_a_number_of_a_manifest_is_refused(error, field, text):
    with pytest.raises(error, match=text):
        d5.evaluate({"models": ["lenet"], "scenarios": [], **field})


def test_a_choice_within_no_limit_is_refused(tmp_path):
    d5.write_results([], tmp_path / "none.json")
    with pytest.raises(d5.ValueError, match="p99 '<=nan ms': expected >= or <= and a time with its unit"):
        d5.choose([tmp_path / "none.json"], {"p99": "<=nan ms"}, minimise="p99")
    for price in (float("nan"), -1):
        with pytest.raises(d5.ValueError, match="price is .*, expected the price of an hour, 0 or more"):
            d5.choose([tmp_path / "none.json"], minimise="cost", price=price)
