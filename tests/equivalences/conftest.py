# SPDX-License-Identifier: Apache-2.0
"""Two ways to one thing agree: test_<pair>.py a pair, cases drawn by $D5_SEED (1 if it is not set)."""

import json
import os
import pathlib
import random
import subprocess
import sys

import d5 as python_module
import numpy
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("D5_PROGRAM", str(SOURCE / "build/release/bin/d5"))
SEED = int(os.environ.get("D5_SEED", "1"))
MPIRUN_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Mark of a test whose commands come from several buildings, each of which can be left out.
of_all_buildings = pytest.mark.skipif(
    bool(python_module._d5._left_out()), reason="this d5 was built without some buildings")


def pytest_report_header():
    return f"d5: {PROGRAM}; seed {SEED}"


class Program:
    """Runs the built program in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *words, status=0, launcher=(), **environment):
        """What `d5 WORDS` does; `status`: the exit statuses that are right, None for any; `launcher`: words before it."""
        done = subprocess.run(
            [*map(str, launcher), PROGRAM, *map(str, words)],
            cwd=self.folder,
            env={**MPIRUN_AS_ROOT, **os.environ, "D5_CACHE_DIR": str(self.folder / "cache"), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        expected = (status,) if isinstance(status, int) else status
        assert expected is None or done.returncode in expected, (
            f"d5 {' '.join(map(str, words))}\nstatus {done.returncode}, expected {status}\n{done.stdout}{done.stderr}"
        )
        return done

    def results(self, *words, status=0, launcher=(), **environment):
        """The results file that `d5 WORDS --out` writes."""
        file = self.folder / "results.json"
        file.unlink(missing_ok=True)
        done = self(*words, "--quiet", "--out", file, status=status, launcher=launcher, **environment)
        assert file.exists(), f"d5 {' '.join(map(str, words))} wrote no results\n{done.stdout}{done.stderr}"
        return json.loads(file.read_text())

    def records(self, *words, **how):
        return self.results(*words, **how)["measurements"]

    def outputs(self, model, *words, **how):
        """What `d5 net run` answers: arrays by the names of outputs."""
        rows = json.loads(self("net", "run", model, *words, "--format", "json", **how).stdout)
        names = [row["output"] for row in rows]
        files = [f"{name}=answer{i}.npy" for i, name in enumerate(names)]
        self("net", "run", model, *words, *(word for file in files for word in ("--output", file)), **how)
        return {name: numpy.load(self.folder / f"answer{i}.npy") for i, name in enumerate(names)}


@pytest.fixture
def d5(tmp_path):
    return Program(tmp_path)


@pytest.fixture
def draw(request):
    """Random numbers that depend on the seed and the test's name alone."""
    print(f"D5_SEED={SEED}", file=sys.stderr)
    return random.Random(f"{SEED} {request.node.name}")
