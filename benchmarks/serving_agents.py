#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluations through a server and its agents: what that costs, and what is lost when they are killed.

usage: serving_agents.py figures [--program build/release/bin/d5] [--rounds 15] [--queries 20000] [--starts 200]
                                 [--burst 200] [--agents 1]
       serving_agents.py crashes [--program build/release/bin/d5] [--kills 50] [--evaluations 200] [--agents 2]
                                 [--seed 0]

`figures`, on an idle machine:
  ratio     the same evaluation (LeNet in the reference on MNIST's sample, single stream) by `d5 eval run` and through
            an agent, in turns: from the call to the records in the database, the median of the rounds' ratios
  start     from the answer to POST /v1/jobs, of an agent that is free, to the event that its child runs: p50, p99
  burst     evaluations of nothing (predictor null, ten queries) a second, from the first submission to the last
            result: of d5's own scenario closed_loop, and of single_stream, in which LoadGen waits four times 10 ms
            for its log; and what `d5 eval run` takes for one, alone
  commands  processor time of `d5 --version`, of which starting is all

`crashes` kills server and agents by SIGKILL, `--kills` moments each, drawn by `--seed`, while the evaluations run, and
starts what it killed again. Exit status 1 unless each of them is done and has one run with all its records, or is
quarantined and has none because its agent was killed within it three times, which is the server's rule; and unless
nothing was lost but by the kills of agents, one part each at most.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import typing
import urllib.error
import urllib.request

MODEL = """kind: model
name: {name}
version: 1.0.0
summary: LeNet with random weights
task: digits
licence: Apache-2.0
assets: [{{name: lenet.onnx, bytes: {bytes}, sha256: {sha256}, made_by: d5 net save lenet}}]
inputs: [{{name: {input}, field: image, shape: [1, 28, 28]}}]
outputs: [{{name: {output}}}]
answer: [{{name: top_k, k: 1}}]
accuracy: [{{dataset: digits, measure: top1, value: 0.1, tolerance: 1, source: nobody}}]
"""
DATASET = """kind: dataset
name: digits
version: 1.0.0
task: digits
licence: CC-BY-SA-3.0
reader: [{name: mnist, subset: sample}]
"""
EVALUATION = """kind: evaluation
name: e{seed}
version: 1.0.0
models: [small]
frameworks: ['{framework}']
scenarios: [{{name: {scenario}}}]
queries: {queries}
accuracy: false
seed: {seed}
"""

MOST_LOSSES = 3  # of a part, which is quarantined then (JobQueue::Options)
SPACED = 3  # evaluations that come to their end between two kills of agents, if more are to come


class Place:
    """A folder with a model, a data set, a server's database and agents' spools."""

    def __init__(self, program: pathlib.Path, folder: pathlib.Path):
        self.program, self.folder = str(program.resolve()), folder
        self.http, self.link = free_port(), free_port()
        self.started: list[subprocess.Popen[bytes]] = []
        self.is_over = False
        self.database = folder / "server.db"
        self.environment = dict(os.environ, D5_SHARE_DIR=str(folder / "share"), D5_CACHE_DIR=str(folder / "cache"),
                                XDG_DATA_HOME=str(folder / "home"))
        for kind in ("models", "datasets"):
            (folder / "share/data" / kind).mkdir(parents=True)
        network = folder / "lenet.onnx"
        self.run("net", "save", "lenet", str(network))
        shown = self.run("artefact", "add", str(network))
        sha256 = re.search(r"\b[0-9a-f]{64}\b", shown) or sys.exit(f"d5 artefact add: {shown}")
        (folder / "share/data/models/small.yaml").write_text(MODEL.format(
            name="small", bytes=network.stat().st_size, sha256=sha256[0], **ends_of(network)))
        (folder / "share/data/datasets/digits.yaml").write_text(DATASET)

    def run(self, *words: str, check: bool = True) -> str:
        done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
        if check and done.returncode not in (0, 1):
            sys.exit(f"d5 {' '.join(words)}: {done.stderr}")
        return done.stdout + done.stderr

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing that was started here goes on, whatever went wrong."""
        self.is_over = True
        for process in self.started:
            process.kill()
            process.wait()

    def begin(self, log: str, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("a") as file:
            process = subprocess.Popen([self.program, *words], env=self.environment, stdout=subprocess.DEVNULL,
                                       stderr=file)
        self.started.append(process)
        return process

    def serve(self) -> subprocess.Popen[bytes]:
        server = self.begin("server.log", "serve", "--database", str(self.database), "--bind",
                            f"127.0.0.1:{self.http}", "--agents", f"127.0.0.1:{self.link}", "--quiet")
        for _ in range(600):
            try:
                self.get("/v1/health")
                return server
            except OSError:
                time.sleep(0.05)
        sys.exit((self.folder / "server.log").read_text())

    def agent(self, number: int) -> subprocess.Popen[bytes]:
        return self.begin(f"agent{number}.log", "agent", "run", "--server", f"127.0.0.1:{self.link}", "--name",
                          f"agent{number}", "--framework", "reference")

    def wait_for_agents(self, count: int) -> None:
        end = time.monotonic() + 120
        while len(agents := self.get("/v1/agents")["items"]) < count:
            if time.monotonic() > end:
                sys.exit("\n".join(log.read_text() for log in self.folder.glob("agent*.log")))
            time.sleep(0.1)
        for agent in agents:
            if list(agent["facts"]["frameworks"]) != ["reference"]:
                sys.exit(f"agent {agent['name']} offers {agent['facts']['frameworks']}, not the reference alone")

    def get(self, path: str) -> typing.Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=10) as answer:
            return json.load(answer)

    def submit(self, manifest: str) -> str:
        """Again and again until a server answers: asked twice, it is one job."""
        body = json.dumps({"manifest": manifest}).encode()
        while not self.is_over:
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{self.http}/v1/jobs", body,
                                                 {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return str(json.load(answer)["id"])
            except urllib.error.HTTPError as error:
                sys.exit(f"POST /v1/jobs: {error.read().decode()}")
            except OSError:
                time.sleep(0.05)
        sys.exit("no server")

    def rows(self, statement: str, *values: typing.Any) -> list[typing.Any]:
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def wait_for(self, jobs: list[str], seconds: float) -> dict[str, str]:
        """The state of each when all are over."""
        end = time.monotonic() + seconds
        while True:
            states = dict(self.rows("SELECT id, state FROM job"))
            if all(states[job] not in ("queued", "leased", "running") for job in jobs):
                return {job: states[job] for job in jobs}
            if time.monotonic() > end:
                sys.exit(f"not over after {seconds} s: {statistics.multimode(states.values())}")
            time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def ends_of(network: pathlib.Path) -> dict[str, str]:
    import onnx

    graph = onnx.load(str(network)).graph
    return {"input": graph.input[0].name, "output": graph.output[0].name}


def evaluation(seed: int, framework: str = "null", scenario: str = "single_stream", queries: int = 10) -> str:
    return EVALUATION.format(seed=seed, framework=framework, scenario=scenario, queries=queries)


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait(30)


def quantile(values: list[float], share: float) -> float:
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def figures(place: Place, rounds: int, queries: int, count: int, burst: int, agents: int) -> int:
    started = [place.serve()] + [place.agent(number) for number in range(agents)]
    place.wait_for_agents(agents)
    ratios = []
    for seed in range(rounds):
        manifest = evaluation(10_000 + seed, "reference", queries=queries)
        (place.folder / "own.yaml").write_text(manifest)
        begun = time.perf_counter()
        place.run("eval", "run", str(place.folder / "own.yaml"), "--database", str(place.folder / "own.db"))
        own = time.perf_counter() - begun
        begun = time.perf_counter()
        place.wait_for([place.submit(manifest)], 600)
        ratios.append((time.perf_counter() - begun) / own)
    print(f"through an agent over d5 eval run: {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}], "
          f"{rounds} rounds of about {own:.1f} s", flush=True)

    starts = []
    for seed in range(count):
        job = place.submit(evaluation(20_000 + seed))
        place.wait_for([job], 60)
        at = dict(place.rows("SELECT state, MIN(time) FROM job_event WHERE job = ? GROUP BY state", job))
        queued, running = (datetime.datetime.fromisoformat(at[state].rstrip("Z")) for state in ("queued", "running"))
        starts.append((running - queued).total_seconds())
    print(f"free agent to started child: p50 {1e3 * quantile(starts, 0.5):.0f} ms, p99 {1e3 * quantile(starts, 0.99):.0f} ms, "
          f"{len(starts)} jobs", flush=True)

    for first, scenario in ((30_000, "closed_loop"), (40_000, "single_stream")):
        alone = []
        (place.folder / "null.yaml").write_text(evaluation(first - 1, scenario=scenario))
        for number in range(10):
            begun = time.perf_counter()
            place.run("eval", "run", str(place.folder / "null.yaml"), "--database",
                      str(place.folder / f"{scenario}{number}.db"))
            alone.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        jobs = [place.submit(evaluation(first + seed, scenario=scenario)) for seed in range(burst)]
        submitted = time.perf_counter() - begun
        place.wait_for(jobs, 600)
        passed = time.perf_counter() - begun
        print(f"evaluations of nothing, {scenario}: {burst / passed:.1f} a second by {agents} agents, which is "
              f"{1e3 * agents * passed / burst:.0f} ms each; submitting alone {burst / submitted:.0f} a second; d5 eval "
              f"run takes {1e3 * statistics.median(alone):.0f} ms", flush=True)
    end(started)
    print(f"d5 --version: {1e3 * processor_time(place, '--version'):.1f} ms of a processor")
    return 0


def processor_time(place: Place, *words: str, rounds: int = 30) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def of_one() -> float:
        before = used()
        place.run(*words)
        return used() - before

    return statistics.median(of_one() for _ in range(rounds))


def wait_for_done(place: Place, count: int) -> int:
    """How many are done, when it is so many, or nothing more comes."""
    end = time.monotonic() + 60
    while True:
        states = [state for (state,) in place.rows("SELECT state FROM job")]
        done = states.count("done")
        if done >= count or time.monotonic() > end or not {"queued", "leased", "running"} & set(states):
            return done
        time.sleep(0.1)


def crashes(place: Place, kills: int, evaluations: int, agents: int, seed: int) -> int:
    chance = random.Random(seed)
    server, workers = place.serve(), [place.agent(number) for number in range(agents)]
    place.wait_for_agents(agents)
    pool = concurrent.futures.ThreadPoolExecutor(1)
    wanted = pool.submit(lambda: [place.submit(evaluation(number)) for number in range(evaluations)])
    victims = ["server"] * kills + ["agent"] * kills
    chance.shuffle(victims)
    done = -SPACED
    for victim in victims:
        time.sleep(chance.uniform(0.05, 1.0))
        if victim == "server":
            server.kill()
            server.wait()
            server = place.serve()
        else:
            # No evaluation is to be hit again and again: three losses quarantine it, as they should.
            done = wait_for_done(place, done + SPACED)
            number = chance.randrange(agents)
            workers[number].kill()
            workers[number].wait()
            workers[number] = place.agent(number)
    jobs = wanted.result()
    states = place.wait_for(jobs, 30 + 10 * evaluations)
    end(workers)  # before the server: each hears first that what it sent is kept
    end([server])

    runs = place.rows("SELECT r.id, (SELECT COUNT(*) FROM measurement m WHERE m.run = r.id), (SELECT SUM(count) FROM "
                      "query_block q WHERE q.run = r.id) FROM run r")
    records = {count for _, count, _ in runs}
    over = sum(state == "done" for state in states.values())
    attempts, lost = place.rows("SELECT SUM(attempt), SUM(losses) FROM job_part")[0]
    print(f"{kills} kills of the server, {kills} of agents: {len(set(jobs))} jobs, {over} done, "
          f"{len(runs)} runs with {sorted(records)} records each, {attempts} attempts, {lost} lost")
    by_rule = 0
    for job, state, losses, reason in place.rows(
            "SELECT job, state, losses, reason FROM job_part WHERE state <> 'done'"):
        by_rule += state == "quarantined" and losses == MOST_LOSSES
        print(f"{job} is {state} after {losses} losses: {reason}")
    left = [path for path in (place.folder / "home").rglob("results.db")]
    for path in left:
        print(f"left in a spool: {sorted(file.name for file in path.parent.iterdir())}")
    right = (len(set(jobs)) == evaluations and over + by_rule == evaluations and len(runs) == over
             and len(records) <= 1 and lost <= kills and not left)
    print("none lost, none twice" if right else "WRONG")
    return 0 if right else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["figures", "crashes"])
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/bin/d5"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--burst", type=int, default=200)
    parser.add_argument("--agents", type=int)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, Place(options.program, pathlib.Path(folder)) as place:
        if options.what == "figures":
            return figures(place, options.rounds, options.queries, options.starts, options.burst, options.agents or 1)
        return crashes(place, options.kills, options.evaluations, options.agents or 2, options.seed)


if __name__ == "__main__":
    sys.exit(main())
