# SPDX-License-Identifier: Apache-2.0
"""A server's job and the line that its run keeps: the same evaluation, run without the server."""

import json
import pathlib
import shlex
import sys

import pytest
from conftest import PROGRAM, SOURCE, of_all_buildings
from test_command_and_its_options import read_line
from test_run_and_its_command import key_of

sys.path.insert(0, str(SOURCE / "benchmarks"))
from serving_place import Place, end  # noqa: E402

GIVEN = ("--framework", "reference", "--scenario", "closed_loop:users=2", "--batch", "2", "--queries", "6", "--seconds", "0.01",
         "--seed", "7", "--threads", "1", "--stage-threads", "2", "--no-accuracy",
         "--longest-wait", "0.5")  # so that both users' queries are one batch in every run


@of_all_buildings
def test_job(d5):
    with Place(pathlib.Path(PROGRAM), d5.folder) as place:
        started = [place.serve(), place.agent(0)]
        place.wait_for_agents(1)
        place.run("eval", "run", "small", *GIVEN, "--server", f"http://127.0.0.1:{place.http}", "--quiet", "--out", str(d5.folder / "job.json"))
        ((line,),) = place.rows("SELECT command FROM run")
        end(started)
        _, words, given = read_line(line)
        assert words == ["eval", "run", "small@1.0.0"]
        assert given == read_line("d5 eval run " + shlex.join(GIVEN))[2]
        again = d5.records(*shlex.split(line)[1:], **{k: place.environment[k] for k in ("D5_SHARE_DIR", "D5_CACHE_DIR")})
        first = json.loads((d5.folder / "job.json").read_text())["measurements"]
        assert {key_of(r) for r in again} == {key_of(r) for r in first}
        assert {r["command"] for r in again} == {r["command"] for r in first}


@pytest.mark.parametrize("option", (("--steps",), ("--price", "2"), ("--isolate", "5"), ("--device", "cpu"), ("--filter", "x"), ("--list",)))
@of_all_buildings
def test_an_option_that_a_server_does_not_take_is_refused(d5, option):
    refused = d5("eval", "run", "lenet", "--server", "127.0.0.1:9", *option, status=2)
    assert f"{option[0]} works on this machine alone; leave out --server, or {option[0]}" in refused.stderr
