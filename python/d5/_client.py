# SPDX-License-Identifier: Apache-2.0
"""A Python client of the evaluation server."""

from __future__ import annotations

import json
import os
import pathlib
import queue
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from d5 import _d5
from d5._measurements import Measurements
from d5._nearest import knows_its_keywords
from d5.errors import TypeError

Json = dict[str, Any]

_DEFAULTS = {"kind": "evaluation", "name": "python", "version": "0.0.0-dev"}


class Client:
    """Sends requests to `d5 serve`; answers are dicts, as data/openapi.yaml defines them.

        client = d5.Client("http://127.0.0.1:8500")
        job = client.submit("efficientnet-lite0", frameworks=["torch"])
        for event in client.follow(job):
            print(event["state"], event["text"])
        for part in client.job(job["id"])["parts"]:
            print(client.results(part["run"]))

    `token` and `certificates` (a PEM file of authorities) default to $D5_TOKEN and $D5_CA.
    """

    @knows_its_keywords
    def __init__(self, address: str = "http://127.0.0.1:8500", *, token: str = "", certificates: str = "") -> None:
        self._client = _d5._ServingClient(address, token, certificates)

    def get(self, path: str, **query: object) -> Any:
        """The answer of a GET request: `client.get("/v1/jobs", state="done")`."""
        words = urlencode({name: value for name, value in query.items() if value not in (None, "")})
        return json.loads(self._client.send("GET", f"{path}?{words}" if words else path, ""))

    def items(self, path: str, **query: object) -> Iterator[Json]:
        """All items of a list, page by page: `client.items("/v1/models")`."""
        cursor = None
        while True:
            page = self.get(path, **query, cursor=cursor)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    @knows_its_keywords
    def submit(
        self,
        what: str | os.PathLike[str] | Sequence[str] | Mapping[str, Any],
        *,
        on: str | int = "one",
        constraints: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Json:
        """Submits an evaluation, given as to `d5.evaluate`: a model's name, several, an evaluation's
        file, or its manifest as a dict, with fields as keywords; also the manifest as YAML text.
        Returns the job, which is the existing one if it was submitted before."""
        body = {"manifest": _manifest_of(what, fields), "on": on, "constraints": constraints or {}}
        made: Json = json.loads(self._client.send("POST", "/v1/jobs", json.dumps(body)))
        return made

    @knows_its_keywords
    def job(self, job: str) -> Json:
        """The job with its manifest and its parts, and their progress."""
        found: Json = self.get(f"/v1/jobs/{quote(job, safe='')}")
        return found

    @knows_its_keywords
    def why(self, job: str) -> list[Json]:
        """For each agent: whether it may run the job, or why not."""
        agents: list[Json] = self.get(f"/v1/jobs/{quote(job, safe='')}/why")["items"]
        return agents

    @knows_its_keywords
    def cancel(self, job: str) -> Json:
        """Cancels the unfinished parts of a job."""
        ended: Json = json.loads(self._client.send("DELETE", f"/v1/jobs/{quote(job, safe='')}", ""))
        return ended

    @knows_its_keywords
    def retry(self, job: str) -> Json:
        """Submits a job again that failed, was cancelled or quarantined. Returns the new job."""
        made: Json = json.loads(self._client.send("POST", f"/v1/jobs/{quote(job, safe='')}/retry", ""))
        return made

    @knows_its_keywords
    def follow(self, job: str | dict[str, Any]) -> Iterator[Json]:
        """Each event of a job, from the first one, until the job is over. `job` is what `submit`
        returned, or its id."""
        events: queue.SimpleQueue[Json | BaseException | None] = queue.SimpleQueue()
        left = threading.Event()
        name = job if isinstance(job, str) else job["id"]
        threading.Thread(target=_listen, args=(self._client, name, events, left), daemon=True).start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            left.set()

    @knows_its_keywords
    def results(self, run: str) -> Measurements:
        """All records of a run, with their samples."""
        return self._client.results(run)


class _Left(Exception):
    """Ends the following of a job whose events nobody takes any more."""


def _listen(client: Any, job: str, events: queue.SimpleQueue[Any], left: threading.Event) -> None:
    """Puts each event, then None or the error, into the queue."""

    def hear(event: str) -> None:
        if left.is_set():
            raise _Left
        events.put(json.loads(event))

    try:
        client.follow(job, hear)
    except BaseException as error:
        events.put(error)
    else:
        events.put(None)


def _manifest_of(what: str | os.PathLike[str] | Sequence[str] | Mapping[str, Any], fields: Json) -> str | Json:
    """What the server takes: a manifest's text, or a dict."""
    if isinstance(what, Mapping):
        return {**_DEFAULTS, **what, **fields}
    if not isinstance(what, (str, os.PathLike)):
        return {**_DEFAULTS, "models": list(what), **fields}
    word = os.fspath(what)
    text = word if "\n" in word else pathlib.Path(word).read_text() if pathlib.Path(word).is_file() else ""
    if not re.search(r"^kind: *evaluation\b", text, re.M):
        return {**_DEFAULTS, "models": word, **fields}
    if fields:
        raise TypeError(
            f"d5.Client.submit: '{next(iter(fields))}' is a field of the manifest, which is given as text; change it there, "
            "or give the manifest as a dict"
        )
    return text
