#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of an evaluation through a server and an agent: time to start, evaluations per second with the processor
time of each process, and the overhead of a long evaluation.

usage: serving_rate.py [--program build/release/bin/d5] [--starts 200] [--evaluations 400] [--parallel 1,2]
                       [--rounds 5] [--seconds 10]

On an idle machine:
  start  time from the answer to POST /v1/jobs, with a free agent, to the event that its child runs; 0 starts: skipped
  rate   evaluations of nothing (predictor null, ten queries of MNIST's sample) a second, from the first submission to
         the last result, of d5's own scenario closed_loop and of LoadGen's single_stream, by an agent that runs
         `--parallel` at once; with the processor time of each process per evaluation, and the rate that this time
         allows on this machine's cores. Goal: 200 a second on two cores
  ratio  an evaluation (LeNet in the reference, closed loop) that takes about `--seconds`, by `d5 eval run` and through
         an agent, in turns: from the call to the records in the database. Goal: 1.01. 0 rounds: skipped
"""

import argparse
import collections
import datetime
import http.client
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing

from serving_place import Place, end, evaluation

GOAL_START, GOAL_RATE, GOAL_RATIO = 100, 200, 1.01
TICK = os.sysconf("SC_CLK_TCK")


class Asker:
    """Submits over one connection, and rarely polls for the end."""

    def __init__(self, place: Place):
        self.place = place
        self.connection = http.client.HTTPConnection("127.0.0.1", place.http, timeout=60)

    def submit(self, manifest: str) -> str:
        self.connection.request("POST", "/v1/jobs", json.dumps({"manifest": manifest}),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        body = answer.read().decode()
        if answer.status not in (200, 201):
            sys.exit(f"POST /v1/jobs: {body}")
        return str(json.loads(body)["id"])

    def wait(self) -> None:
        """Waits until nothing is queued or running. A poll takes 0.3 ms of a processor, which the evaluations lose."""
        while self.place.rows("SELECT 1 FROM job WHERE state IN ('queued', 'leased', 'running') LIMIT 1"):
            time.sleep(0.1)

    def hear_end_of(self, job: str) -> None:
        """Sleeps until the server reports the job's end: polling would take a core from the measurement."""
        self.connection.request("GET", f"/v1/jobs/{job}/events")
        with self.connection.getresponse() as events:
            while events.readline():
                pass

    def expect_done(self, jobs: list[str]) -> None:
        states = dict(self.place.rows("SELECT id, state FROM job"))
        count = collections.Counter(states[job] for job in jobs)
        if list(count) != ["done"]:
            sys.exit(f"not all are done: {dict(count)}")


def start_agent(place: Place, parallel: int) -> "subprocess.Popen[bytes]":
    name = f"agent{parallel}"
    agent = place.begin(f"{name}.log", "agent", "run", "--server", f"127.0.0.1:{place.link}", "--name", name,
                        "--framework", "reference", "--parallel", str(parallel))
    while not any(one["facts"]["name"] == name for one in place.get("/v1/agents")["items"]):
        if agent.poll() is not None:
            sys.exit((place.folder / f"{name}.log").read_text())
        time.sleep(0.1)
    return agent


def starts(place: Place, count: int) -> None:
    agent = start_agent(place, 1)
    waited = []
    for seed in range(count):
        asker = Asker(place)
        job = asker.submit(evaluation(3_000_000_000 + seed))
        asker.hear_end_of(job)
        at = dict(place.rows("SELECT state, MIN(time) FROM job_event WHERE job = ? GROUP BY state", job))
        queued, running = (datetime.datetime.fromisoformat(at[state].rstrip("Z")) for state in ("queued", "running"))
        waited.append(1e3 * (running - queued).total_seconds())
    end([agent])
    waited.sort()
    print(f"free agent to started child: p50 {statistics.median(waited):.0f} ms, p99 {waited[int(0.99 * count)]:.0f} ms (goal "
          f"{GOAL_START}), {count} jobs", flush=True)


def stat_of(process: int) -> list[str]:
    return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()


def child_of(process: int) -> int:
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(stat_of(int(entry.name))[1]) == process:
                return int(entry.name)
        except OSError:
            pass
    sys.exit("the agent has no process that starts others")


def used(processes: dict[str, int]) -> dict[str, float]:
    """Processor seconds of each, and of the last one's ended children."""
    result = {name: sum(int(x) for x in stat_of(process)[11:13]) / TICK for name, process in processes.items()}
    result["children"] = sum(int(x) for x in stat_of(processes["starter"])[13:15]) / TICK
    return result


def rate(place: Place, server: int, parallel: int, scenario: str, count: int, first: int) -> None:
    agent = start_agent(place, parallel)
    asker = Asker(place)
    asker.submit(evaluation(first, scenario=scenario))  # warm-up: files are read once
    asker.wait()
    processes = {"server": server, "agent": agent.pid, "starter": child_of(agent.pid), "this": os.getpid()}
    before, begun = used(processes), time.perf_counter()
    jobs = [asker.submit(evaluation(first + 1 + number, scenario=scenario)) for number in range(count)]
    submitted = time.perf_counter() - begun
    asker.wait()
    passed = time.perf_counter() - begun
    after = used(processes)
    asker.expect_done(jobs)
    end([agent])
    each = {name: 1e3 * (after[name] - before[name]) / count for name in after}
    total = sum(each.values())
    cores = len(os.sched_getaffinity(0))
    print(f"{scenario}, {parallel} at once: {count / passed:.1f} a second (goal {GOAL_RATE}), {count} evaluations, "
          f"submitted at {count / submitted:.0f} a second", flush=True)
    print("  ms of a processor each: " + ", ".join(f"{name} {value:.1f}" for name, value in each.items())
          + f"; together {total:.1f}, which {cores} cores do {1e3 * cores / total:.0f} times a second", flush=True)


def seconds_of(work: typing.Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def ratio(place: Place, rounds: int, seconds: float) -> None:
    agent = start_agent(place, 1)
    file = place.folder / "own.yaml"

    def own(manifest: str) -> float:
        file.write_text(manifest)
        return seconds_of(lambda: place.run("eval", "run", str(file), "--database", str(place.folder / "own.db")))

    def through(manifest: str) -> float:
        def work() -> None:
            asker = Asker(place)  # a server closes idle connections
            job = asker.submit(manifest)
            asker.hear_end_of(job)
            asker.expect_done([job])
        return seconds_of(work)

    def of(seed: int, queries: int) -> str:
        return evaluation(seed, "reference", "closed_loop", queries)

    queries = 1000
    while (took_so := own(of(1_000_000 + queries, queries))) < seconds / 4:
        queries *= 4
    queries = int(queries * seconds / took_so)
    ratios, added, took = [], [], []
    for number in range(rounds):
        manifest = of(2_000_000_000 + number, queries)
        alone = own(manifest)
        whole = through(manifest)
        ratios.append(whole / alone)
        added.append(whole - alone)
        took.append(alone)
    end([agent])
    print(f"through an agent over d5 eval run: {statistics.median(ratios):.4f} [{min(ratios):.4f}, {max(ratios):.4f}] "
          f"(goal {GOAL_RATIO}), {1e3 * statistics.median(added):+.0f} ms, {rounds} rounds of "
          f"{statistics.median(took):.1f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/bin/d5"))
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--evaluations", type=int, default=400)
    parser.add_argument("--parallel", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, Place(options.program, pathlib.Path(folder)) as place:
        server = place.serve()
        if options.starts > 0:
            starts(place, options.starts)
        first = 1
        for parallel in (int(text) for text in options.parallel.split(",")):
            for scenario in ("closed_loop", "single_stream"):
                rate(place, server.pid, parallel, scenario, options.evaluations, first)
                first += options.evaluations + 1
        if options.rounds > 0:
            ratio(place, options.rounds, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
