# SPDX-License-Identifier: Apache-2.0
"""A model of one's own, evaluated here and through a server by an agent that has none of its files: the same tables of
the same records. Colours are told apart by the mean of each channel: every answer is right by construction."""

import json
import os
import re
import signal
import struct
import subprocess
import zlib

import numpy
import onnx
import pytest
from conftest import PROGRAM, of_all_buildings
from onnx import TensorProto, helper

pytestmark = of_all_buildings
SAMPLES = 9
ASKED = ("--framework", "reference", "--scenario", "closed_loop", "--batch", "1", "--queries", "20",
         "--threads", "1")


def png(pixels):
    """An RGB picture as a PNG file (ISO/IEC 15948)."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def own(d5):
    """mine.onnx, and a folder of pictures with a folder for each class."""
    nodes = [helper.make_node("GlobalAveragePool", ["image"], ["pooled"]),
             helper.make_node("Flatten", ["pooled"], ["means"])]
    ends = [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, 16, 16])], [
        helper.make_tensor_value_info("means", TensorProto.FLOAT, ["N", 3])]
    model = helper.make_model(helper.make_graph(nodes, "mine", *ends), opset_imports=[helper.make_opsetid("", 13)],
                              ir_version=8)
    onnx.save(model, d5.folder / "mine.onnx")
    for i in range(SAMPLES):
        colour = i % 3
        place = d5.folder / "colours" / ("a red", "b green", "c blue")[colour]
        place.mkdir(parents=True, exist_ok=True)
        pixels = numpy.full((20 + i, 18, 3), 40, numpy.uint8)
        pixels[..., colour] = 200
        pixels[0, 0] = i  # no two are alike
        (place / f"{i}.png").write_bytes(png(pixels))
    return d5.folder


@pytest.fixture
def server(d5):
    """The address of a server that keeps models; its agent starts with an empty cache."""
    started = []

    def start(*words, cache, end):
        environment = {**os.environ, "D5_CACHE_DIR": str(d5.folder / cache), "XDG_CACHE_HOME": str(d5.folder / cache),
                       "D5_DATA_DIR": str(d5.folder / "nothing")}
        child = subprocess.Popen([PROGRAM, *map(str, words)], cwd=d5.folder, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        started.append(child)
        said = ""
        while not re.search(end, said):
            line = child.stdout.readline()
            assert line, said
            said += line
        return said

    said = start("serve", "--bind", "127.0.0.1:0", "--agents", "127.0.0.1:0", "--database", d5.folder / "results.db",
                 "--models", d5.folder / "kept", cache="server", end="agents: .*\n")
    address, agents = re.search(r"(http://\S+)\nagents: (\S+)", said).groups()
    start("agent", "run", "--server", agents, "--name", "a", "--spool", d5.folder / "spool", cache="agent",
          end="agent a at")
    yield address
    for child in reversed(started):
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)


def shape_of(table):
    """A table without its measured numbers, whose digits and units vary, and without doubts of the machine."""
    lines = [re.sub(r"-+", "-", line) for line in table.splitlines() if not re.match(r"\[\d+\] |  ", line)]
    lines = [re.sub(r"\bmistrusted( \[[\d,]+\])?", "passed", line) for line in lines]
    number = r"[0-9][0-9.e+-]*( ?(ns|µs|ms|s|min|h)\b)?"
    return [re.sub(r"\s+", " ", re.sub(number, "0", line)).strip() for line in lines]


def key_of(record):
    judged = record["status"].replace("mistrusted", "passed")  # by what the machine does meanwhile
    return record["subject"], record["framework"], record["metric"], record["statistic"], judged


def test_own_model(d5, own, server):
    for word, options in (("mine.yaml", ("net", "describe", "mine.onnx")),
                          ("colours.yaml", ("data", "describe", "colours"))):
        (own / word).write_text(d5(*options, D5_DATA_DIR=str(own)).stdout)
    here = d5("eval", "run", "mine.yaml", "--dataset", "colours.yaml", *ASKED, "--out", "here.json",
              D5_DATA_DIR=str(own))

    refused = d5("eval", "run", "mine.yaml", "--dataset", "colours.yaml", *ASKED, "--server", server, status=2)
    assert f"d5 model add mine.yaml --server {server}" in refused.stderr
    d5("model", "add", "mine.onnx", "colours", "--server", server)
    assert "mine,1.0.0-dev" in d5("model", "list", "--server", server, "--format", "csv").stdout
    there = d5("eval", "run", "mine", "--dataset", "colours", *ASKED, "--server", server, "--out", "there.json")

    assert shape_of(there.stdout) == shape_of(here.stdout)
    local, remote = (json.loads((own / name).read_text())["measurements"] for name in ("here.json", "there.json"))
    assert [key_of(one) for one in remote] == [key_of(one) for one in local]
    for a, b in zip(local, remote):
        if a["metric"].startswith("top"):
            assert a["samples"] == b["samples"] == [1] * SAMPLES
    # Times are of the same machine, at other moments: the same order of magnitude, as no network lies in between.
    latencies = [[numpy.median(one["samples"]) for one in run if one["metric"] == "latency" and
                  one["statistic"] == "median"] for run in (local, remote)]
    assert len(latencies[0]) == 1
    assert all(0.1 < b / a < 10 for a, b in zip(*latencies))
    d5("model", "remove", "mine", "--server", server)
    gone = d5("eval", "run", "mine", "--dataset", "colours", *ASKED[:2], "--server", server, status=2)
    assert "mine" in gone.stderr


def test_carried_generator(d5, server):
    asked = ("bytes-decoder", "--framework", "reference:most_tokens=4:capacity=256", "--scenario", "closed_loop:users=2",
             "--queries", 3, "--batch", 2)
    here, there = d5.folder / "generated-here.json", d5.folder / "generated-there.json"
    d5("eval", "run", *asked, "--out", here)
    d5("eval", "run", *asked, "--server", server, "--out", there)
    local, remote = (json.loads(file.read_text())["measurements"] for file in (here, there))
    assert [key_of(one) for one in remote] == [key_of(one) for one in local]
    for a, b in zip(local, remote):
        if a["metric"] in ("loss", "regret", "output_tokens"):
            assert a["samples"] == b["samples"]
