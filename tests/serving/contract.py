#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Schemathesis judges a server by its contract (data/openapi.yaml): a thousand requests, right and wrong.

usage: contract.py PROGRAM [EXAMPLES]      PROGRAM: d5; examples an operation, else 10

It is installed by hand (pip install schemathesis==4.32.5: 30 packages, 94 MB); without it the status is 4, a test that
is skipped. Two things it cannot know: that a name in the catalogue is more than any text (positive_data_acceptance),
and that a stream of events has no end.
"""

import importlib.util
import pathlib
import signal
import subprocess
import sys
import tempfile

SKIPPED = 4


def main() -> int:
    if importlib.util.find_spec("schemathesis") is None:
        print("skipped: schemathesis is not installed (pip install schemathesis==4.32.5)")
        return SKIPPED
    program, examples = str(pathlib.Path(sys.argv[1]).resolve()), (sys.argv[2:] or ["10"])[0]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "serve", "--bind", "127.0.0.1:0", "--database", f"{folder}/contract.db", "--quiet"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout
            address = server.stdout.readline().strip()
            judge = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"
            return subprocess.run(
                [sys.executable, "-c", judge, "run", f"{address}/v1/openapi.json", "--seed", "1",
                 "--max-examples", examples, "--exclude-path-regex", "events|openapi",
                 "--exclude-checks", "positive_data_acceptance", "--request-timeout", "20"],
                cwd=folder, check=False).returncode
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
