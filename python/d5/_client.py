# SPDX-License-Identifier: Apache-2.0
"""A Python client of the evaluation server."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

from d5 import _d5
from d5._measurements import Measurements

Json = dict[str, Any]


class Client:
    """Sends requests to `d5 serve`; answers are dicts, as data/openapi.yaml defines them.

        client = d5.Client("http://127.0.0.1:8500")
        job = client.submit(open("evaluation.yaml").read())
        client.follow(job["id"], lambda event: print(event["state"], event["text"]))
        for part in client.job(job["id"])["parts"]:
            print(client.results(part["run"]))

    `token` and `certificates` (a PEM file of authorities) default to $D5_TOKEN and $D5_CA.
    """

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

    def submit(self, manifest: str | Json, *, on: str | int = "one", constraints: Json | None = None) -> Json:
        """Submits an evaluation, whose manifest is YAML text or a dict. Returns the job, which is the
        existing one if it was submitted before."""
        body = {"manifest": manifest, "on": on, "constraints": constraints or {}}
        made: Json = json.loads(self._client.send("POST", "/v1/jobs", json.dumps(body)))
        return made

    def job(self, job: str) -> Json:
        """The job with its manifest and its parts, and their progress."""
        found: Json = self.get(f"/v1/jobs/{quote(job, safe='')}")
        return found

    def why(self, job: str) -> list[Json]:
        """For each agent: whether it may run the job, or why not."""
        agents: list[Json] = self.get(f"/v1/jobs/{quote(job, safe='')}/why")["items"]
        return agents

    def cancel(self, job: str) -> Json:
        """Cancels the unfinished parts of a job."""
        ended: Json = json.loads(self._client.send("DELETE", f"/v1/jobs/{quote(job, safe='')}", ""))
        return ended

    def retry(self, job: str) -> Json:
        """Submits a job again that failed, was cancelled or quarantined. Returns the new job."""
        made: Json = json.loads(self._client.send("POST", f"/v1/jobs/{quote(job, safe='')}/retry", ""))
        return made

    def follow(self, job: str, hear: Callable[[Json], object]) -> None:
        """Calls `hear` with each event of a job, from the first one, until the job is over."""

        def told(event: str) -> None:
            hear(json.loads(event))

        self._client.follow(job, told)

    def results(self, run: str) -> Measurements:
        """All records of a run, with their samples."""
        return self._client.results(run)
