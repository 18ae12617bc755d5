# SPDX-License-Identifier: Apache-2.0
"""Writes the type stubs of the built module: pybind11-stubgen, and what it leaves out.

usage: write_stubs.py FOLDER    the package d5 is in FOLDER
"""

import os
import pathlib
import re
import subprocess
import sys


def main(folder: pathlib.Path) -> None:
    # Beside what is there: pip finds its own environment by PYTHONPATH.
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    command = ["pybind11_stubgen", "d5._d5", "-o", str(folder), "--exit-code"]
    subprocess.run([sys.executable, "-m", *command], check=True, env={**os.environ, "PYTHONPATH": path})
    stub = folder / "d5" / "_d5.pyi"
    text = stub.read_text().replace("os.PathLike |", "os.PathLike[str] |")
    for module in ("numpy.typing", "os"):  # it imports no module that stands within an expression
        if re.search(rf"\b{module}\.", text) and f"import {module}\n" not in text:
            text = text.replace("import typing\n", f"import {module}\nimport typing\n", 1)
    stub.write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
