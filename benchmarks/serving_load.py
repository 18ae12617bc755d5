#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Load of a server of 'd5 serve': first view of its page, submitted jobs, events, and a flood of requests.

usage: serving_load.py [PROGRAM]        PROGRAM: d5; default build/release/bin/d5

Starts its own server on loopback, with a new database; nothing else should run. Prints medians and the 99th
percentile of each, and the memory used by the flood of half-open requests.
"""

import contextlib
import http.client
import json
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

EVALUATION = """kind: evaluation
name: load
version: 1.0.0-dev
models: efficientnet-lite0
frameworks: "null"
scenarios: single_stream
seed: {seed}
"""
VIEWS, JOBS, READS, FLOOD = 30, 300, 300, 400


@contextlib.contextmanager
def server(program: str) -> Iterator[tuple[str, int, int]]:
    """Host, port and process id."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "serve", "--bind", "127.0.0.1:0", "--database", f"{folder}/load.db", "--quiet"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        address = re.match(r"http://(.*):(\d+)", process.stdout.readline())
        assert address, "the server did not begin"
        try:
            yield address[1], int(address[2]), process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def timed(call: Callable[[], object], times: int) -> list[float]:
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return seconds


def tell(what: str, seconds: list[float]) -> None:
    last = statistics.quantiles(seconds, n=100)[-1] if len(seconds) > 1 else seconds[0]
    print(f"{what:<58} median {statistics.median(seconds) * 1e3:8.2f} ms   p99 {last * 1e3:8.2f} ms   n {len(seconds)}")


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> bytes:
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status < 300, (path, answer.status, content[:200])
    return content


def first_view(host: str, port: int) -> int:
    """Loads the page, its files, and its first requests, one after the other. Returns the bytes."""
    connection = http.client.HTTPConnection(host, port)
    page = ask(connection, "GET", "/").decode()
    total = len(page)
    for file in re.findall(r'(?:src|href)="/?([^":]+\.(?:js|css|svg))"', page):
        total += len(ask(connection, "GET", f"/{file}"))
    for list_ in ("models", "datasets", "frameworks", "systems", "scenarios"):
        total += len(ask(connection, "GET", f"/v1/{list_}"))
    connection.close()
    return total


def heard_after(host: str, port: int, count: int) -> list[float]:
    """Seconds from the submission of a job to the moment when a listener reads its event."""
    listening = http.client.HTTPConnection(host, port)
    listening.request("GET", "/v1/events?after=0")
    stream = listening.getresponse()
    heard: dict[str, float] = {}

    def listen() -> None:
        while line := stream.readline():
            if line.startswith(b"data: "):
                heard.setdefault(json.loads(line[6:])["job"], time.perf_counter())

    threading.Thread(target=listen, daemon=True).start()
    asking = http.client.HTTPConnection(host, port)
    begun = {}
    for i in range(count):
        begin = time.perf_counter()
        job = json.loads(ask(asking, "POST", "/v1/jobs", {"manifest": EVALUATION.format(seed=10_000 + i)}))
        begun[job["id"]] = begin
        time.sleep(0.01)
    deadline = time.monotonic() + 10
    while len([job for job in begun if job in heard]) < count and time.monotonic() < deadline:
        time.sleep(0.01)
    return [heard[job] - begin for job, begin in begun.items() if job in heard]


def memory(process: int) -> float:
    """The resident memory in MB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) / 1e3  # type: ignore[index]


def main() -> None:
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/d5"
    with server(program) as (host, port, process):
        size = first_view(host, port)
        tell(f"first view, {size / 1e3:.0f} kB, one connection", timed(lambda: first_view(host, port), VIEWS))
        asking = http.client.HTTPConnection(host, port)
        seeds = iter(range(JOBS))
        submit = timed(
            lambda: ask(asking, "POST", "/v1/jobs", {"manifest": EVALUATION.format(seed=next(seeds))}), JOBS
        )
        tell(f"a job asked for ({JOBS / sum(submit):.0f} a second, one asker)", submit)
        tell("the list of 50 jobs", timed(lambda: ask(asking, "GET", "/v1/jobs"), READS))
        tell("health", timed(lambda: ask(asking, "GET", "/v1/health"), READS))
        tell("from asking to the event, one listener", heard_after(host, port, 100))
        before = memory(process)
        flood = []
        for _ in range(FLOOD):
            half = socket.create_connection((host, port))
            half.sendall(b"POST /v1/jobs HTTP/1.1\r\nX-Slow: " + b"x" * 4000)
            flood.append(half)
        time.sleep(1)
        print(f"{FLOOD} half-open requests: {memory(process) - before:+.1f} MB on {before:.1f} MB")
        for half in flood:
            half.close()
        tell("health, after it", timed(lambda: first_view(host, port), 1))


if __name__ == "__main__":
    main()
