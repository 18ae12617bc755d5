# SPDX-License-Identifier: Apache-2.0
"""Python files as extensions: `--load FILE.py`, `d5.op.load`."""

import importlib.util
import pathlib
import sys

from d5.errors import IoError


def load_file(path: str) -> str:
    """Runs the file as a module of its own name, which can import its neighbours, like a program;
    returns what it was, in words."""
    name = pathlib.Path(path).stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not pathlib.Path(path).is_file():
        raise IoError(f"'{path}' is no Python file")
    folder = str(pathlib.Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return f"module {name}"
