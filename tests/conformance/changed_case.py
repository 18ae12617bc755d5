# SPDX-License-Identifier: Apache-2.0
"""Whatever a table and the cases do not agree on fails `conformance`, by its name.

    python3 changed_case.py PROGRAM

Each time the table of the reference is changed in one place, or the folder of cases.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = os.environ.get("D5_ONNX_CASES")
TABLE = (Path(__file__).parent / "reference.txt").read_text()


def run(folder, table, *words, cases=CASES):
    (Path(folder) / "table.txt").write_text(table)
    done = subprocess.run([sys.argv[1], "reference", "--table", f"{folder}/table.txt", *words], text=True,
                          capture_output=True, env={**os.environ, "D5_ONNX_CASES": str(cases)})
    return done.returncode, done.stdout + done.stderr


def expect(status, words, got):
    assert got[0] == status and words in got[1], f"expected status {status} and '{words}'; got {got}"


def without_case(folder, name):
    """The cases but for one, as links."""
    for kind in Path(CASES).iterdir():
        if kind.is_dir():
            (Path(folder) / kind.name).mkdir()
            for case in kind.iterdir():
                if f"{kind.name}/{case.name}" != name:
                    (Path(folder) / kind.name / case.name).symlink_to(case)
    return folder


def main():
    if not CASES:
        print("skipped: D5_ONNX_CASES is not set; scripts/onnx_cases writes the cases")
        return 4
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as fewer:
        only = ("--only", "node/test_abs")
        expect(0, "0 better, 0 worse", run(folder, TABLE, *only))
        row = TABLE + "unsupported: operator Abs\n  node/test_abs\n"
        expect(1, "better: node/test_abs passed; expected unsupported: operator Abs", run(folder, row, *only))
        expect(0, "1 better, 0 worse", run(folder, row, *only, "--update"))
        assert (Path(folder) / "table.txt").read_text() == TABLE, "--update writes another table than the one that is kept"
        expect(1, "better: node/test_abs passed; expected unsupported: operator Abs",
               run(folder, TABLE.replace("\nfailed", "\nwithout: Abs\nfailed", 1), *only))
        expect(1, "worse: node/test_dft_inverse failed: ",
               run(folder, re.sub(r"node/test_dft_inverse\b", "", TABLE), "--only", "node/test_dft_inverse"))
        expect(1, "no case: node/test_none failed: why", run(folder, TABLE + "failed: why\n  node/test_none\n", *only))
        expect(1, "a case is new, gone or named otherwise",
               run(folder, TABLE, "--only", "node/test_add", cases=without_case(fewer, "node/test_abs")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
