# SPDX-License-Identifier: Apache-2.0
"""Each kind of table on a terminal of 60, 80 and 120 columns and in a pipe: the same words and numbers, no line too wide."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unicodedata

import pytest
from conftest import PROGRAM, Program, of_all_buildings

WIDTHS = (60, 80, 120)
COLOUR = re.compile("\x1b\\[[0-9]*m")
LONG = 24  # a longer word may go on in the next line, behind punctuation
QUICK = ("--samples", 6, "--warmup", 1)
KINDS = ("operators", "frameworks", "networks", "optimizers", "schedules", "samplers", "metrics", "transforms", "datasets",
         "distributed-optimizers", "analyses", "scenarios", "losses", "recipes", "modifiers", "steps", "topologies")
# Commands that read results written before, so that nothing is measured again.
TABLES = {
    "list": ("list",),
    **{f"list {kind}": ("list", kind) for kind in KINDS},
    "list operators Conv": ("list", "operators", "Conv"),
    "list optimizers adam": ("list", "optimizers", "adam"),
    "report": ("report", "op.json"),
    "report of networks": ("report", "net.json"),
    "report of a training": ("report", "train.json"),
    "report of layers": ("report", "profile.json"),
    "report of an evaluation": ("report", "eval.json"),
    "pivot": ("report", "op.json", "--pivot", "framework"),
    "compare": ("compare", "op.json", "op2.json"),
    "net show": ("net", "show", "lenet"),
    "data list": ("data", "list"),
    "data show": ("data", "show", "mnist:subset=sample"),
    "cluster list": ("cluster", "list"),
    "cluster show": ("cluster", "show", "ethernet-10g"),
    "predict": ("predict", "profile-of-lenet.json", "--ranks", "1,2,4"),
    "eval query": ("eval", "query", "--database", "runs.db"),
    "eval history": ("eval", "history", "--database", "runs.db"),
    "eval choose": ("eval", "choose", "eval.json", "--minimise", "p99"),
    **{f"analysis {name}": ("report", "eval.json", "--analysis", name) for name in ("latency", "summary")},
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with results of every kind."""
    folder = tmp_path_factory.mktemp("measured")
    d5 = Program(folder)
    some = (0, 1)
    cases = ("Gemm 3x4 4x5", "Conv 1x2x5x5 3x2x3x3 pads=1x1x1x1", "Softmax float64:2x3")
    for file in ("op.json", "op2.json"):
        d5("op", "bench", *cases, "--framework", "reference,onnxruntime", *QUICK, "--quiet", "--out", file, status=some)
    d5("net", "bench", "lenet", "mlp", "--batch", "1,2", *QUICK, "--quiet", "--out", "net.json", status=some)
    d5("net", "bench", "lenet", "--profile", *QUICK, "--quiet", "--out", "profile.json", status=some)
    d5("train", "mnist-lenet-quick", "--set", "training.epochs=1", "--set", "training.most_batches=6", "--quiet", "--out", "train.json", status=some)
    d5("net", "save", "lenet", "lenet.onnx")
    d5("net", "save", "resnet-20", "resnet-20.onnx")
    (folder / "resnet-20.yaml").write_text(d5("net", "describe", "resnet-20.onnx").stdout)
    d5("data", "show", "mnist:subset=sample", "--samples", 8, "--pictures", "digits/all")
    (folder / "digits.yaml").write_text(d5("data", "describe", "digits").stdout)
    evaluated = ("resnet-20.yaml", "--dataset", "digits.yaml", "--scenario", "single_stream", "--queries", 6, "--no-accuracy")
    d5("eval", "run", *evaluated, "--quiet", "--out", "eval.json", status=some, D5_DATA_DIR=str(folder))
    d5("profile", "lenet", "--batch", 4, "--quiet", "--out", "profile-of-lenet.json", status=some)
    for file in ("op.json", "train.json"):
        d5("eval", "import", file, "--database", "runs.db", status=some)
    return folder


def printed(folder, words, columns=None):
    """What `d5 WORDS` prints in a pipe, or on a terminal of so many columns."""
    environment = {**os.environ, "D5_CACHE_DIR": str(folder / "cache"), "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    command = [PROGRAM, *map(str, words), "--quiet"]
    if columns is None:
        environment["COLUMNS"] = "100000"
        return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, timeout=60, check=False).stdout.decode()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    job = subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # how a terminal ends
        while chunk := os.read(ours, 65536):
            text += chunk
    os.close(ours)
    job.wait(timeout=60)
    return COLOUR.sub("", text.decode().replace("\r\n", "\n"))


def cells(line):
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in line)


def pieces(word):
    """All that a long word may be cut into."""
    cuts = [0, *(i for i in range(1, len(word)) if word[i - 1] in "/,;:_=.-" and not (word[i - 1] in ".-" and word[i].isdigit())), len(word)]
    return {word[a:b] for i, a in enumerate(cuts) for b in cuts[i + 1 :]}


@of_all_buildings
@pytest.mark.parametrize("name", TABLES)
def test_tables(measured, name):
    whole = printed(measured, TABLES[name])
    assert whole.strip(), "nothing was printed"
    known = set(whole.split())
    known |= {piece for word in known if len(word) > LONG for piece in pieces(word)}
    for columns in WIDTHS:
        text = printed(measured, TABLES[name], columns)
        wide = [line for line in text.splitlines() if cells(line) > columns]
        assert not wide, f"{columns} columns: {wide[0]}"
        broken = sorted(word for word in set(text.split()) - known if set(word) != {"-"})
        assert not broken, f"{columns} columns: {broken}\n{text}"
