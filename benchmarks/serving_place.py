# SPDX-License-Identifier: Apache-2.0
"""A server of 'd5 serve' and its agents in a separate folder, for the serving benchmarks."""

import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
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


class Place:
    """Folder with a model, a data set, a server's database and agents' spools."""

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
        """Ends all processes started here, also after an error."""
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
        """Submits repeatedly until a server answers; a repeated submission is one job."""
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
        """Waits until all have ended; returns the state of each."""
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
