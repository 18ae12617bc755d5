# SPDX-License-Identifier: Apache-2.0
"""Jobs of two ranks."""

import os
import shutil
import subprocess
import sys

import pytest


def run(script, folder):
    """What the ranks of a job that ends well print."""
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun")
    file = folder / "job.py"
    file.write_text(script)
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    command = ["mpirun", "--oversubscribe", "-np", "2", sys.executable, str(file)]
    job = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert job.returncode == 0, job.stdout + job.stderr
    return job.stdout
