# SPDX-License-Identifier: Apache-2.0
"""Holds d5's executor of a framework against the framework's own program in Python, on models that
people use: where that answers, d5 gives the same.

frameworks/<name>/tests/own_program.py calls `judge`. Models are those of $D5_DATA_DIR/onnx-light (the
set "images"), with the inputs that their folders bring, or those that scripts/models fetched (the
set "light"), on drawn ones; they lie in $D5_LIGHT_MODELS, or where that script puts them. Both sides get the same file, inputs and number of
threads. d5 gives a framework the sizes that are fed, its own program is given open ones: so it may
choose other kernels, and 1e-4 of a tensor's largest magnitude is allowed, some thousand roundings of
float32. A model that d5 refuses is named in the framework's table with the reason, and only there.
"""

import os
import pathlib
import re
import subprocess
import sys

try:
    import d5
    import numpy
    import onnx
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

TOLERANCE = 1e-4
ROOT = pathlib.Path(__file__).resolve().parents[2]

# Sizes that a model is used with, where it leaves them open and 1 is none of them.
SIZES = {
    "ddddocr": {"input1": (1, 1, 64, 96)},
    "ddddocr-old": {"input1": (1, 1, 64, 96)},
    "pp-ocrv4-det": {"x": (1, 3, 64, 96)},
    "pp-ocrv4-rec": {"x": (2, 3, 48, 96)},
    "pp-ocrv5-rec": {"x": (2, 3, 48, 96)},
    "pp-ocrv6-rec-small": {"x": (2, 3, 48, 96)},
    "ppocr-cls-v2": {"x": (2, 3, 48, 192)},
    "plcmos-v2": {"degraded_audio": (1, 1, 120, 257)},
    "silero-vad": {"input": (1, 576)},
    "silero-vad-16k": {"input": (1, 576)},
    "silero-vad-half": {"input": (1, 576)},
    "silero-vad-ifless": {"input": (1, 576)},
    "swift-f0": {"audio": (1, 4096)},
}
AECMOS = {"input": (1, 3, 120, 160)}
# A rate of samples, which chooses a branch; bounds in Hz; as many letters as there are.
VALUES = {"sr": 16000, "fmin": 46.875, "fmax": 2093.75, "input_lengths": 1}


def light_models():
    """The folder that scripts/models fills."""
    told = os.environ.get("D5_LIGHT_MODELS")
    if told:
        return pathlib.Path(told)
    script = subprocess.run([ROOT / "scripts/models", "--print"], capture_output=True, text=True, check=False)
    return pathlib.Path(script.stdout.strip() or "no light models")


def name_of(file):
    return file.parent.name if file.stem == "model" else file.stem


def models(which, names):
    """Files by name; prints why there are none."""
    if which == "images":
        folder = pathlib.Path(os.environ.get("D5_DATA_DIR", "no D5_DATA_DIR")) / "onnx-light"
        way_out = "set D5_DATA_DIR"
    else:
        folder, way_out = light_models(), "scripts/models NAME... makes it"
    if not folder.is_dir():
        print(f"skipped: there is no folder '{folder}'; {way_out}")
        sys.exit(4)
    found = {}
    for file in sorted(folder.glob("**/*.onnx")):
        name = name_of(file)
        if name in found:  # packages call theirs alike
            name = f"{file.parent.name}/{name}"
        found[name] = file
    return {name: found[name] for name in names or found}


def inputs_of(name, file):
    """Those of its test folder, or drawn ones."""
    graph = onnx.load(file, load_external_data=False).graph
    known = {tensor.name for tensor in graph.initializer}
    inputs, random = {}, numpy.random.default_rng(7)
    for place, value in enumerate(value for value in graph.input if value.name not in known):
        stored = file.parent / "test_data_set_0" / f"input_{place}.pb"
        if stored.exists():
            inputs[value.name] = numpy_helper.to_array(onnx.load_tensor(stored))
            continue
        declared = tuple(dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim)
        sizes = AECMOS if name.startswith("aecmos") else SIZES.get(name, {})
        shape = sizes.get(value.name, declared)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if value.name in VALUES:
            inputs[value.name] = numpy.full(shape, VALUES[value.name], dtype)
        elif numpy.issubdtype(dtype, numpy.integer):
            inputs[value.name] = random.integers(0, 10, shape).astype(dtype)
        else:
            inputs[value.name] = random.standard_normal(shape).astype(dtype)
    return inputs


def difference(answers, expected):
    """The largest of all outputs, of each one's largest magnitude; or what is no number."""
    worst = 0.0
    for name, right in expected.items():
        got = answers[name]
        if got.shape != right.shape or got.dtype != right.dtype:
            return f"'{name}' is {got.dtype} {got.shape}, expected {right.dtype} {right.shape}"
        if numpy.array_equal(got, right, equal_nan=right.dtype.kind == "f"):
            continue
        error = numpy.abs(got - right).max() / numpy.abs(right).max()
        worst = max(worst, float(error) if error == error else float("inf"))
    return worst


def judge(word, run, refused, arguments):
    """`run(file, inputs, threads)` is the framework's own program: outputs by name. `refused`: models,
    and of each what d5's reason says. Ends the process."""
    threads = 2
    d5.set_threads(threads)
    failures = []
    which, *names = arguments or ["images"]
    for name, file in models(which, names).items():
        inputs = inputs_of(name, file)
        try:
            expected = run(str(file), inputs, threads)
        except Exception as error:  # whatever its own program refuses with
            print(f"{name}: its own program refuses it: {str(error).strip().splitlines()[-1][:100]}")
            continue
        try:
            outputs = d5.executor(d5.Network.load(file), [word]).inference(inputs)
            apart = difference({key: value.numpy() for key, value in outputs.items()}, expected)
        except d5.Error as error:
            reason = str(error)
            print(f"{name}: d5 refuses it: {reason[:200]}")
            if name not in refused or not re.search(refused[name], reason):
                failures.append(f"{name}: refused, though the framework's own program answers: {reason}")
            continue
        if name in refused:
            failures.append(f"{name}: it runs; take it out of the table of what is refused")
        told = apart if isinstance(apart, str) else f"differs by {apart:.1e}" if apart else "the same to the last bit"
        print(f"{name}: {told}")
        if isinstance(apart, str) or not apart <= TOLERANCE:
            failures.append(f"{name}: {told}, allowed is {TOLERANCE}")
    print("\n".join(failures))
    sys.exit(1 if failures else 0)
