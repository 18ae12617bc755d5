# SPDX-License-Identifier: Apache-2.0
"""A server is asked from Python as from the program."""

import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import d5
import pytest

SMALL = """kind: evaluation
name: small
version: 1.0.0
models: efficientnet-lite0
frameworks: "null"
scenarios: single_stream
"""
PROGRAM = pathlib.Path(d5.__file__).parent / "bin" / "d5"


@pytest.fixture()
def server(tmp_path: pathlib.Path) -> Iterator[str]:
    command = [str(PROGRAM), "serve", "--bind", "127.0.0.1:0", "--database", str(tmp_path / "r.db"), "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "D5_TOKEN": ""})
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130  # as a shell says of what Ctrl-C ended
    finally:
        process.kill()


def test_a_job_is_asked_for_followed_and_cancelled(server: str) -> None:
    client = d5.Client(server)
    assert any(model["name"] == "efficientnet-lite0" for model in client.items("/v1/models", limit=1))
    job = client.submit(SMALL)
    assert client.submit(SMALL)["id"] == job["id"]
    assert client.why(job["id"]) == []
    assert client.cancel(job["id"])["state"] == "cancelled"
    assert [event["state"] for event in client.follow(job)] == ["queued", "cancelled"]
    assert [event["state"] for event in client.follow(job["id"])] == ["queued", "cancelled"]
    again = client.retry(job["id"])
    assert again["id"] != job["id"] and again["state"] == "queued"
    assert client.retry(job["id"])["id"] == again["id"]
    with pytest.raises(d5.ValueError, match="is queued"):
        client.retry(again["id"])


def test_what_it_refuses_is_raised(server: str) -> None:
    client = d5.Client(server)
    with pytest.raises(d5.NotFound):
        client.job("none")
    with pytest.raises(d5.ValueError, match="modles"):
        client.submit("kind: evaluation\nmodles: x\n")
    with pytest.raises(d5.NotFound):
        next(client.follow("none"))
    with pytest.raises(d5.TypeError, match="'frameworks' is a field of the manifest, which is given as text"):
        client.submit(SMALL, frameworks=["null"])


def test_a_job_that_is_not_over_is_left_by_break(server: str) -> None:
    client = d5.Client(server)
    job = client.submit(SMALL)
    for event in client.follow(job):
        assert event["state"] == "queued"
        break
    assert client.cancel(job["id"])["state"] == "cancelled"


def test_an_evaluation_is_submitted_as_it_is_evaluated(server: str, tmp_path: pathlib.Path) -> None:
    client = d5.Client(server)
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    fields: dict[str, Any] = {"frameworks": "null", "scenarios": "single_stream"}
    whole = {"kind": "evaluation", "name": "small", "version": "1.0.0", "models": "efficientnet-lite0", **fields}
    as_text, as_file, as_dict = (client.submit(one)["id"] for one in (SMALL, file, whole))
    assert as_text == as_file == as_dict
    named = client.submit("efficientnet-lite0", **fields)
    assert named["id"] == client.submit(["efficientnet-lite0"], **fields)["id"] != as_text
    assert "single_stream" in str(client.job(named["id"])["manifest"])


def test_no_server_is_said_so() -> None:
    with pytest.raises(d5.IoError, match="d5 serve"):
        d5.Client("http://127.0.0.1:9").job("none")
