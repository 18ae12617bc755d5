#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of one node, from lines of a file of cases: what whole-network executors and `auto` make of single problems.

usage: case_networks.py CASES.txt FOLDER
       d5 net bench FOLDER/*.onnx --framework all,auto --pivot framework --allow-unsupported

Takes cases of two shapes, data and weights (tests/cases/deepbench_conv.txt, deepbench_gemm.txt): the first is the input,
the second a parameter, as in a layer.
"""

import argparse
import pathlib

import numpy as np

import d5


def read_number(text):
    numbers = [int(digits) for digits in text.split("x")]
    return numbers if len(numbers) > 1 else numbers[0]


def network_of(line):
    operator, *words = line.split()
    data, weights = ([int(size) for size in word.split("x")] for word in words if "=" not in word)
    attributes = {name: read_number(value) for name, value in (word.split("=") for word in words if "=" in word)}
    network = d5.Network(operator)
    network.add_input("x", "float32", data)
    network.add_parameter("w", np.random.default_rng(0).standard_normal(weights, dtype=np.float32))
    network.add_node(operator, ["x", "w"], ["y"], **attributes)
    network.add_output("y")
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cases")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    lines = [line.strip() for line in pathlib.Path(arguments.cases).read_text().splitlines()]
    for line in lines:
        if line and not line.startswith("#"):
            network_of(line).save(str(arguments.folder / (line.replace(" ", "_") + ".onnx")))


if __name__ == "__main__":
    main()
