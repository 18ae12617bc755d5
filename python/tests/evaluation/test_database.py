# SPDX-License-Identifier: Apache-2.0
"""The database of results: its file, its life."""

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
    with d5.Database(tmp_path / "new" / "results.db") as database:
        run = database.add(rows, command="mine")
        assert [one["id"] for one in database.runs()] == [run] and "results.db" in repr(database)
    assert not list(tmp_path.glob("new/results.db-*"))  # left by an open connection
    again = d5.Database(tmp_path / "new" / "results.db")
    assert len(again.results(run)) == len(rows)  # to read
    again.add(rows[:1], command="more")  # then to write
    assert len(again.runs()) == 2
    again.close()
    assert len(again.runs()) == 2
