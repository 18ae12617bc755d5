#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of tokens as clients of OpenAI's interface measure them, beside a server whose times are known.

usage: token_clients.py [PROGRAM] [--users N] [--queries N] [--peers FOLDER]

PROGRAM: d5; default build/release/bin/d5. FOLDER: a virtual environment for each peer, by its name ("FOLDER/guidellm"); a peer that
is not there is looked for on PATH, and else named with the line that installs it.

The server is one of this script, on loopback: a role with an empty text after 20 ms, the first token after 50 ms, then 10 ms a
token, 20 tokens in all; the stamps of what it sent are the truth, its own lateness included. Each client asks it in turn. Prints
the medians that a client says, by its own names, beside the truth of the same answers.
"""

import argparse
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
import typing

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

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a client may leave without a word
            super().handle()

    def do_GET(self) -> None:
        if self.path == "/health":
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = json.dumps({"object": "list", "data": [{"id": "ticks"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def event(self, data: dict | str) -> None:
        if isinstance(data, dict):
            data = json.dumps({"object": "chat.completion.chunk", "model": "ticks", **data})
        text = f"data: {data}\n\n".encode()
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


def d5(program: str, address: str, users: int, queries: int) -> dict[str, float]:
    """Medians in s, by d5's names."""
    measured = records(program, address, users, queries)
    medians = {}
    for metric in ("ttft", "itl", "tpot", "stall"):
        one = next(m for m in measured if m["metric"] == metric and m["statistic"] == "median")
        medians[metric] = one["value"] if "value" in one else statistics.median(one["samples"])
    conditions = next(m["conditions"] for m in measured if m["metric"] == "ttft")
    print("client busy:", conditions["finding"]["client busy"])
    statuses = sorted({f"{m['status']}{': ' + m['reason'] if m.get('reason') else ''}" for m in measured})
    print("status:", "; ".join(statuses))
    return medians


def guidellm(program: str, address: str, users: int, queries: int) -> dict[str, float]:
    """Medians in s, by GuideLLM's names."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prompts = [json.dumps({"prompt": f"{i} It was a bright cold day in April."}) for i in range(queries)]
        (folder / "prompts.jsonl").write_text("\n".join(prompts))
        command = [program, "run", "--backend", f"kind=openai_http,target={address},model=ticks",
                   "--profile", f"kind=concurrent,streams={users}", "--constraint", f"kind=max_requests,count={queries}",
                   "--data", "kind=json_file,path=prompts.jsonl", "--output", "kind=json,path=out.json", "--disable-console"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, timeout=300,
                       env={**os.environ, "HF_HUB_OFFLINE": "1"})
        [benchmark] = json.loads((folder / "out.json").read_text())["benchmarks"]
    named = {"TTFT": "time_to_first_token_ms", "ITL": "inter_token_latency_ms", "TPOT": "time_per_output_token_ms"}
    return {short: benchmark["metrics"][long]["successful"]["median"] / 1e3 for short, long in named.items()}


TOKENIZER = """
import sys, tokenizers, transformers
words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "tick": 1}, unk_token="<unk>"))
words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(sys.argv[1])
"""


def aiperf(program: str, address: str, users: int, queries: int) -> dict[str, float]:
    """Medians in s, by AIPerf's names. It counts tokens by a tokenizer, here of words."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([pathlib.Path(program).with_name("python"), "-c", TOKENIZER, folder / "words"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        prompts = [json.dumps({"text": f"{i} It was a bright cold day in April."}) for i in range(queries)]
        (folder / "prompts.jsonl").write_text("\n".join(prompts))
        command = [program, "profile", "-m", "ticks", "--url", address, "--endpoint-type", "chat", "--streaming",
                   "--concurrency", str(users), "--request-count", str(queries), "--tokenizer", folder / "words",
                   "--input-file", folder / "prompts.jsonl", "--custom-dataset-type", "single_turn", "--ui", "none",
                   "--output-artifact-dir", folder / "out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, timeout=300)
        found = json.loads((folder / "out" / "profile_export_aiperf.json").read_text())
    named = {"TTFT": "time_to_first_token", "ITL": "inter_token_latency", "ICL": "inter_chunk_latency"}
    return {short: found[long]["p50"] / 1e3 for short, long in named.items()}


def truth() -> dict[str, float]:
    """Medians in s of what was sent since the last call."""
    sent, Ticks.sent = Ticks.sent, []
    gaps = [[b - a for a, b in zip(stamps, stamps[1:])] for stamps in sent]
    return {
        "ttft": statistics.median(stamps[0] for stamps in sent),
        "itl": statistics.median(gap for one in gaps for gap in one),
        "tpot": statistics.median((stamps[-1] - stamps[0]) / (TOKENS - 1) for stamps in sent),
        "stall": statistics.median(max(one) for one in gaps),
    }


class Peer(typing.NamedTuple):
    package: str
    medians: typing.Callable[[str, str, int, int], dict[str, float]]
    same: dict[str, str]  # d5's name of what a name of the peer means


PEERS = {
    # Its ITL is a number an answer; its TPOT has the time to the first token in it.
    "guidellm": Peer("guidellm==0.8.1", guidellm, {"TTFT": "ttft", "ITL": "tpot"}),
    # Its ITL is a number an answer; its ICL is of pieces, which have a token each here.
    "aiperf": Peer("aiperf==0.13.0", aiperf, {"TTFT": "ttft", "ITL": "tpot", "ICL": "itl"}),
}


def installed(peer: str, folder: str | None) -> str | None:
    own = pathlib.Path(folder or ".") / peer / "bin" / peer
    return str(own.resolve()) if folder and own.exists() else shutil.which(peer)


def print_rows(client: str, medians: dict[str, float], sent: dict[str, float], same: dict[str, str]) -> None:
    for name, found in medians.items():
        of = sent.get(same.get(name, name))
        beside = f"{1e3 * of:9.3f} ms {1e6 * (found - of):9.0f} us" if of is not None else f"{'another thing':>12}"
        print(f"{client:10} {name:6} {1e3 * found:9.3f} ms {beside}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="build/release/bin/d5")
    parser.add_argument("--users", type=int, default=2)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--peers", metavar="FOLDER")
    arguments = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ticks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    medians = d5(arguments.program, address, arguments.users, arguments.queries)
    print(f"\n{'client':10} {'median':6} {'it says':>12} {'sent':>12} {'difference':>12}")
    print_rows("d5", medians, truth(), {})
    for name, peer in PEERS.items():
        if program := installed(name, arguments.peers):
            medians = peer.medians(program, address, arguments.users, arguments.queries)
            print_rows(name, medians, truth(), peer.same)
        else:
            print(f"{name:10} not installed: python3 -m venv {name} && {name}/bin/pip install {peer.package}")


if __name__ == "__main__":
    main()
