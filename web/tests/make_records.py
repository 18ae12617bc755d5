#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes records.json, which the stand-in server answers with, of real evaluations.

usage: make_records.py DATABASE TRACE.json > records.json

DATABASE is what `d5 eval run ... --database` filled, TRACE.json what `--trace` wrote of the second run: of it the first
five requests are kept. Of the answers the wrong ones are, without the values of the network's output.
"""
import itertools
import json
import sqlite3
import sys


def queries(block):
    """docs/reference/file_formats.md, "Database": columns of zigzag LEB128."""
    count, data = block
    place = 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return (value >> 1) ^ -(value & 1)

    def column():
        return [number() for _ in range(count)]

    def running():
        return list(itertools.accumulate(column()))

    identity, sample, scheduled = running(), running(), running()
    issued = [a + b for a, b in zip(scheduled, column())]
    begun = [a + b for a, b in zip(issued, column())]
    ended = [a + b for a, b in zip(begun, column())]
    batch = running()
    assert place == len(data) - count and not any(data[place:]), "all passed"
    start = min(scheduled)
    return [[i, s, a - start, b - start, c - start, d - start, e]
            for i, s, a, b, c, d, e in zip(identity, sample, scheduled, issued, begun, ended, batch)]


def answer(text):
    value = json.loads(text)
    value.pop("logits", None)
    value["scores"] = [float(f"{score:.4g}") for score in value["scores"]]
    return json.dumps(value)


def run(database, row):
    identity, key, time, command, environment, hostname, cpu = row
    columns = ("piece subject framework framework_version device metric unit direction statistic status reason value low "
               "high conditions").split()
    records = []
    for values in database.execute(f"select {','.join(columns)} from measurement where run=? order by rowid", (identity,)):
        record = dict(zip(columns, values))
        record["conditions"] = json.loads(record["conditions"])
        low, high = record.pop("low"), record.pop("high")
        record["interval"] = None if low is None else [low, high]
        records.append(record)
    pieces = [dict(zip(("name", "kind", "count"), piece)) for piece in
              database.execute("select name, kind, count from piece where run=? order by number", (identity,))]
    kept = {}
    for piece in {entry["name"] for entry in pieces if entry["kind"] == "queries"}:
        kept[piece] = [line for block in database.execute(
            "select count, records from query_block where run=? and piece=? order by block", (identity, piece)) for line in queries(block)]
    wrong = {}
    for piece in {entry["name"] for entry in pieces if entry["kind"] == "answers"}:
        wrong[piece] = [{"sample": sample, "answer": answer(text), "score": score} for sample, text, score in database.execute(
            "select sample, answer, score from answer where run=? and piece=? and score < 0.5 order by number", (identity, piece))]
    manifest = database.execute("select manifest from evaluation where key=?", (key,)).fetchone()
    about = json.loads(environment)
    about = {name: about[name] for name in ("os", "architecture", "cores", "memory_bytes", "compiler", "d5_version", "virtualisation", "warnings") if name in about}
    return {"id": identity, "key": key, "time": time, "command": command, "hostname": hostname, "cpu": cpu,
            "records": len(records), "not_passed": sum(record["status"] != "passed" for record in records),
            "pieces": pieces, "manifest": json.loads(manifest[0]) if manifest else None, "environment": about,
            "measurements": records, "queries": kept, "wrong": wrong}


def first_requests(file, most=5):
    events = json.load(open(file))["traceEvents"]
    ends = sorted(event["ts"] for event in events if event["ph"] == "e" and event["name"] == "request")
    return [event for event in events if event["ph"] == "M" or event["ts"] <= ends[most - 1]]


def main():
    database = sqlite3.connect(sys.argv[1])
    rows = database.execute("select run.id, evaluation, time, command, environment, hostname, cpu from run "
                            "join system on system.id = run.system where exists (select 1 from piece where run = run.id) "
                            "order by time desc").fetchall()
    json.dump({"runs": [run(database, row) for row in rows], "trace": first_requests(sys.argv[2])}, sys.stdout, separators=(",", ":"))


main()
