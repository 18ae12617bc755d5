#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of tokens as d5's client of OpenAI's interface measures them, beside a server whose times are known.

usage: token_clients.py [PROGRAM] [--users N] [--queries N]        PROGRAM: d5; default build/release/bin/d5

The server is one of this script, on loopback: a role with an empty text after 20 ms, the first token after 50 ms, then 10 ms a
token, 20 tokens in all; the stamps of what it sent are the truth, its own lateness included. Prints both, and their difference.
"""

import argparse
import http.server
import json
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

ROLE, FIRST, GAP, TOKENS = 0.020, 0.050, 0.010, 20
MODEL = "kind: model\nname: ticks\nversion: 1.0.0-dev\ntask: text generation\nlicence: CC0-1.0\nformat: none\n"
PROMPTS = """kind: dataset
name: prompts
version: 1.0.0-dev
task: text generation
licence: CC0-1.0
modality: text
reader: {name: text, data: book.txt, length: 64, test_share: 0.5}
"""


def wait_until(moment: float) -> None:
    """Sleeps until 1 ms before the moment, then polls the clock."""
    while (left := moment - time.perf_counter()) > 0:
        if left > 0.001:
            time.sleep(left - 0.001)


class Ticks(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sent: list[list[float]] = []  # seconds from each request's end to each of its tokens

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        body = json.dumps({"object": "list", "data": [{"id": "ticks"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def event(self, data: dict | str) -> None:
        text = f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()
        self.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        begun = time.perf_counter()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        wait_until(begun + ROLE)
        self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        stamps = []
        for i in range(TOKENS):
            wait_until(begun + FIRST + GAP * i)
            self.event({"choices": [{"index": 0, "delta": {"content": " tick"}}]})
            stamps.append(time.perf_counter() - begun)
        prompt = len(asked["messages"][0]["content"])
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": TOKENS}})
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")
        Ticks.sent.append(stamps)


def records(program: str, address: str, users: int, queries: int) -> list[dict]:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "ticks.yaml").write_text(MODEL)
        (folder / "prompts.yaml").write_text(PROMPTS)
        (folder / "book.txt").write_text("It was a bright cold day in April. " * 200)
        command = [program, "eval", "run", folder / "ticks.yaml", "--dataset", folder / "prompts.yaml", "--no-accuracy",
                   "--framework", f"openai:{address}", "--scenario", f"closed_loop:users={users}", "--queries", str(queries),
                   "--quiet", "--out", folder / "r.json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((folder / "r.json").read_text())["measurements"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="build/release/bin/d5")
    parser.add_argument("--users", type=int, default=2)
    parser.add_argument("--queries", type=int, default=60)
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ticks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    measured = records(arguments.program, f"http://127.0.0.1:{server.server_port}", arguments.users, arguments.queries)
    gaps = [b - a for stamps in Ticks.sent for a, b in zip(stamps, stamps[1:])]
    truth = {
        "ttft": statistics.median(stamps[0] for stamps in Ticks.sent),
        "itl": statistics.median(gaps),
        "tpot": statistics.median((stamps[-1] - stamps[0]) / (TOKENS - 1) for stamps in Ticks.sent),
        "stall": statistics.median(max(b - a for a, b in zip(stamps, stamps[1:])) for stamps in Ticks.sent),
    }
    print(f"{'median of':10} {'sent':>12} {'d5':>12} {'difference':>12}")
    for metric, sent in truth.items():
        one = next(m for m in measured if m["metric"] == metric and m["statistic"] == "median")
        found = one["value"] if "value" in one else statistics.median(one["samples"])
        print(f"{metric:10} {1e3 * sent:9.3f} ms {1e3 * found:9.3f} ms {1e6 * (found - sent):9.0f} us")
    conditions = next(m["conditions"] for m in measured if m["metric"] == "ttft")
    print("client busy:", conditions["finding"]["client busy"])
    statuses = sorted({f"{m['status']}{': ' + m['reason'] if m.get('reason') else ''}" for m in measured})
    print("status:", "; ".join(statuses))


if __name__ == "__main__":
    main()
