# SPDX-License-Identifier: Apache-2.0
"""The database of results: its file, its life."""

import time

import pytest

import d5


def test_reading_makes_no_file(tmp_path):
    file = tmp_path / "typo.db"
    database = d5.Database(file)
    for read in (database.runs, database.measurements, lambda: database.sql("SELECT 1"), lambda: database.pieces("a")):
        with pytest.raises(d5.NotFound, match="there is no database '.*typo.db'"):
            read()
    assert not file.exists()
    with pytest.raises(d5.UnknownOption, match="did you mean 'metric'|did you mean metric"):
        database.runs(metrc="time")


def test_a_database_is_made_by_writing_and_closed_by_with(tmp_path):
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    with pytest.raises(d5.IoError, match="there is no folder '.*resluts'; make it, or correct the name"):
        d5.Database(tmp_path / "resluts" / "results.db").add(rows)
    with d5.Database(tmp_path / "results.db") as database:
        run = database.add(rows, command="mine")
        assert [one["id"] for one in database.runs()] == [run] and "results.db" in repr(database)
    assert not list(tmp_path.glob("results.db-*"))  # left by an open connection
    again = d5.Database(tmp_path / "results.db")
    assert len(again.results(run)) == len(rows)  # to read
    again.add(rows[:1], command="more")  # then to write
    assert len(again.runs()) == 2
    again.close()
    assert len(again.runs()) == 2


def test_equal_rows_under_another_command_are_another_run(tmp_path, monkeypatch):
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    with d5.Database(tmp_path / "results.db") as database:
        one = database.add(rows, command="one")
        time.sleep(1.1)  # a time of the environment has seconds
        monkeypatch.setenv("OMP_SCHEDULE", "dynamic")  # the environment differs, as under load
        assert database.add(rows, command="one") == one
        assert database.add(rows, command="two") != one
        assert sorted(run["command"] for run in database.runs()) == ["one", "two"]


@pytest.mark.parametrize("statement", ["DROP TABLE measurement", "CREATE TABLE zz(x)", "ATTACH 'new.db' AS q", "BEGIN"])
def test_a_statement_that_is_no_query_is_refused(tmp_path, monkeypatch, statement):
    monkeypatch.chdir(tmp_path)
    with d5.Database("results.db") as database:
        database.add(d5.bench("Relu 64", frameworks=["reference"], samples=5))
        with pytest.raises(d5.ValueError, match="is no query; a statement may only read"):
            database.sql(statement)
        assert len(database.runs()) == 1
    assert not (tmp_path / "new.db").exists()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    database = d5.Database(tmp_path_factory.mktemp("stored") / "results.db")
    run = database.add(d5.bench("Relu 64", frameworks=["reference"], samples=5))
    return database, run


def test_a_filter_takes_lists_and_patterns(stored):
    database, run = stored
    all_of_them = database.measurements()
    for metric in ("time", ["time"], ["time", "flop_rate"], {"time"}, ["tim*", "time"], "flop*"):
        found = database.measurements(metric=metric)
        assert [one.metric for one in found] == [one.metric for one in all_of_them.where(metric=metric)] and found
    assert len(database.measurements(run=[run, run[:6]], until="2999")) == len(all_of_them)
    assert database.measurements(since="2999-01-01T10:30:00Z") == [] and database.measurements(subject="other") == []
    assert database.measurements(metric="loss") == [] and database.measurements(status=["failed", "skipped"]) == []
    assert len(database.runs(metric=["loss", "time"])) == 1 and len(database.history(metric=["time", "loss"])) > 0


FILTERS = [
    (d5.ValueError, {"status": "faild"}, "there is no status 'faild'; did you mean 'failed'"),
    (d5.ValueError, {"metric": "tiem"}, "no row has the metric 'tiem'; did you mean 'time'"),
    (d5.ValueError, {"level": "oprator"}, "no row has the level 'oprator'; did you mean 'operator'"),
    (d5.ValueError, {"framework": ["torch", "refrence"]}, "no row has the framework 'refrence'; did you mean 'reference'"),
    (d5.ValueError, {"metric": []}, r"metric is \[\], expected one or more values; leave it out for all"),
    (d5.ValueError, {"metric": ""}, "metric is '', expected a text; leave it out for all"),
    (d5.ValueError, {"since": "yesterday"}, "since is 'yesterday', expected a time in UTC: 2026-11-26, or"),
    (d5.ValueError, {"until": "2026-13-01"}, "until is '2026-13-01', expected a time"),
    (d5.TypeError, {"until": 5}, "until is 5, expected a text"),
    (d5.TypeError, {"since": ["2026", "2027"]}, r"since is \['2026', '2027'\], expected one time"),
    (d5.TypeError, {"metric": None}, "metric is None, expected a text or a list of them"),
    (d5.UnknownOption, {"metrc": "time"}, "has no keyword 'metrc'; did you mean 'metric'"),
    (d5.NotFound, {"run": "zzz"}, "the database has no run 'zzz'"),
    (d5.NotFound, {"run": ["zzz"]}, "the database has no run 'zzz'"),
]


@pytest.mark.parametrize("error, words, text", FILTERS, ids=[str(words) for _, words, _ in FILTERS])
@pytest.mark.parametrize("method", ["measurements", "runs", "history"])
def test_a_filter_that_nothing_can_match_is_refused(stored, method, error, words, text):
    with pytest.raises(error, match=text):
        getattr(stored[0], method)(**words)


@pytest.mark.parametrize("method", ["answers", "queries"])
def test_a_piece_that_a_run_has_not_is_refused(stored, method):
    database, run = stored
    with pytest.raises(d5.NotFound, match=f"piece of {method} 'nope' is unknown"):
        getattr(database, method)(run, "nope")
    with pytest.raises(d5.NotFound, match="the database has no run 'zzz'"):
        getattr(database, method)("zzz", "nope")


def test_an_empty_address_is_refused():
    with pytest.raises(d5.ValueError, match="the database's address is empty; expected a file"):
        d5.Database("").runs()
