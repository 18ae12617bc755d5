# SPDX-License-Identifier: Apache-2.0
"""One results file as JSON, JSON Lines, CSV, a database and tables; NumPy says what the numbers are."""

import csv
import io
import json
import re

import numpy
import pytest
from conftest import of_all_buildings

SCALE = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
STATISTICS = {
    "median": numpy.median,
    "mean": numpy.mean,
    "maximum": numpy.max,
    "last": lambda samples: samples[-1],
    "rate": lambda samples: len(samples) / numpy.sum(1 / numpy.array(samples)),
}


def drawn_results(draw):
    records = []
    for i in range(12):
        numbers = numpy.random.default_rng(draw.randrange(2**32))
        statistic = draw.choice(list(STATISTICS))
        samples = list(10 ** draw.uniform(-7, 1) * numbers.lognormal(0, 0.2, draw.choice((1, 2, 7, 30, 31))))
        status = draw.choice(("passed", "passed", "mistrusted"))
        records.append(
            {
                "subject": f"case {i}",
                "command": "",
                "level": "operator",
                "framework": "reference",
                "framework_version": "1",
                "device": "cpu",
                "metric": "time",
                "unit": "s",
                "quantity": "time",
                "direction": "lower_is_better",
                "statistic": statistic,
                "over_ranks": "maximum",
                "status": status,
                "reason": "" if status == "passed" else "drawn",
                "conditions": {"threads": "1", "row": str(i)},
                "artefacts": [],
                "samples": samples,
            }
        )
    return {"format": "d5 results", "schema": 2, "environment": {}, "measurements": records}


def shown_seconds(cell):
    """The number of a table's cell, and half of its last digit, in seconds."""
    number, unit = re.fullmatch(r"([0-9.e+-]+) (\S+)", cell.strip()).groups()
    mantissa, _, exponent = number.partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(number) * SCALE[unit], 0.5 * 10.0 ** (int(exponent or 0) - digits) * SCALE[unit]


@of_all_buildings
@pytest.mark.parametrize("number", range(2))
def test_numbers(d5, draw, number):
    results = drawn_results(draw)
    file = d5.folder / "r.json"
    file.write_text(json.dumps(results))
    expected = {m["subject"]: float(STATISTICS[m["statistic"]](m["samples"])) for m in results["measurements"]}
    status = {m["subject"]: m["status"] for m in results["measurements"]}

    def check(way, subject, value):
        assert value == pytest.approx(expected[subject], rel=1e-12), f"{way}: {subject}"

    def report(form):
        return d5("report", file, "--format", form).stdout

    whole = json.loads(report("json"))["measurements"]
    lines = [json.loads(line) for line in report("jsonl").splitlines()]
    for way, rows in (("json", whole), ("jsonl", lines)):
        assert [row["subject"] for row in rows] == list(expected), way
        for row in rows:
            check(way, row["subject"], row["value"])
            assert row["status"] == status[row["subject"]], way
    rows = list(csv.DictReader(io.StringIO(report("csv"))))
    assert [row["subject"] for row in rows] == list(expected)
    for row in rows:
        check("csv", row["subject"], float(row["value"]))
        assert row["status"] == status[row["subject"]]
        low, high = float(row["interval_low"]), float(row["interval_high"])
        record = next(r for r in whole if r["subject"] == row["subject"])
        if "interval" in record and not numpy.isnan(low):
            assert [low, high] == pytest.approx(record["interval"], rel=1e-12)

    d5("eval", "import", file, "--database", "runs.db")
    stored = json.loads(d5("eval", "query", "--database", "runs.db", "--format", "json").stdout)
    assert sorted(row["subject"] for row in stored) == sorted(expected)
    for row in stored:
        check("database", row["subject"], float(row["value"]))
        assert row["status"] == status[row["subject"]]
    run = stored[0]["run"]
    d5("eval", "export", run, "--database", "runs.db", "--to", "back.json")
    back = json.loads((d5.folder / "back.json").read_text())["measurements"]
    assert {m["subject"]: m["samples"] for m in back} == {m["subject"]: m["samples"] for m in results["measurements"]}

    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in report("markdown").splitlines() if "|" in line]
    heads = table[0]
    seen = set()
    for row in table[2:]:
        cells = dict(zip(heads, row))
        subject = next((s for s in expected if s in cells.values()), None)
        column = next((name for name in ("median", "value", "statistic") if name in cells), None)
        if subject is None or column is None:
            continue
        value, half = shown_seconds(re.sub(r"^(mean|maximum|last|rate|median) ", "", cells[column]))
        assert abs(value - expected[subject]) <= half * 1.0001, f"markdown: {subject}: {cells}"
        seen.add(subject)
    assert seen == set(expected), heads


@pytest.mark.parametrize("form", ("table", "markdown", "csv", "json", "jsonl", "gbench", "html"))
def test_schemas(d5, draw, form):
    """A file of schema 2, whose conditions are texts, says what the same file says today."""
    old = drawn_results(draw)
    today = [{**m, "conditions": {"identity": {"threads": 1, "row": i}}} for i, m in enumerate(old["measurements"])]
    (d5.folder / "r.json").write_text(json.dumps(old))
    of_old = d5("report", "r.json", "--format", form).stdout
    (d5.folder / "old.json").write_text(json.dumps(old))
    (d5.folder / "r.json").write_text(json.dumps({**old, "schema": 3, "measurements": today}))
    assert d5("report", "r.json", "--format", form).stdout == of_old
    if form in ("table", "markdown", "csv", "json"):
        pairs = d5("compare", "old.json", "r.json", "--format", form)
        assert pairs.stdout == d5("compare", "r.json", "old.json", "--format", form).stdout == d5("compare", "r.json", "r.json", "--format", form).stdout
        assert "B has no" not in pairs.stderr
