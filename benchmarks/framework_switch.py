#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of changing the framework, and the layout, from node to node: a chain of convolutions, all in one framework,
all in the other, and in both by turns, interleaved in one process; then a chain of Relus, which do little work.

usage: framework_switch.py [--frameworks onednn,torch] [--nodes N] [--shape 1x64x56x56] [--threads N] [--samples N]
                           [--out FILE.json]

A switch costs (by turns - the mean of the two alone) / nodes. This includes d5's reorders for frameworks with a layout
of their own, which are counted.
"""

import argparse

import numpy as np

import d5


class Counter(d5.Event):
    """The number of reorders in one run."""

    def __init__(self):
        super().__init__()
        self.reorders = 0

    def before_node(self, step):
        self.reorders += step.node.op_type == "Reorder"


def chain(operator, nodes, shape):
    network = d5.Network(operator.lower())
    network.add_input("x0", "float32", list(shape))
    channels = shape[1]
    random = np.random.default_rng(0)
    for i in range(nodes):
        inputs, attributes = [f"x{i}"], {}
        if operator == "Conv":
            weights = random.standard_normal((channels, channels, 3, 3), dtype=np.float32) / (3 * channels**0.5)
            network.add_parameter(f"w{i}", weights)
            inputs.append(f"w{i}")
            attributes = {"pads": [1, 1, 1, 1]}
        network.add_node(operator, inputs, [f"x{i + 1}"], **attributes, name=f"{'even' if i % 2 == 0 else 'odd'}{i}")
    network.add_output(f"x{nodes}")
    return network


def reorders_of(executor, inputs):
    executor.inference(inputs)  # warm-up: one-time reorders
    counter = Counter()
    executor.add_event(counter)
    executor.inference(inputs)
    return counter.reorders


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--frameworks", default="onednn,torch")
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--shape", default="1x64x56x56")
    parser.add_argument("--threads", type=int, default=d5.threads())
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--out", help="a results file")
    arguments = parser.parse_args()
    d5.set_threads(arguments.threads)
    d5.pin_threads()
    one, other = arguments.frameworks.split(",")
    shape = tuple(map(int, arguments.shape.split("x")))
    inputs = {"x0": np.random.default_rng(1).standard_normal(shape, dtype=np.float32)}
    rows = []
    for operator in ("Conv", "Relu"):
        network = chain(operator, arguments.nodes, shape)
        ways = {one: ([one], []), other: ([other], []), "by turns": ([one], [f"node:odd*={other}"])}
        executors = {}
        for name, (frameworks, placement) in ways.items():
            executors[name] = d5.executor(network, frameworks, placement=placement)
            counted = reorders_of(d5.executor(network, frameworks, placement=placement), inputs)
            print(f"{operator}, {name}: {counted} reorders a run")
        measured = d5.measure({name: lambda executor=executor: executor.inference(inputs)
                               for name, executor in executors.items()},
                              name=f"{arguments.nodes} x {operator} {arguments.shape}", samples=arguments.samples)
        seconds = [row.value for row in measured if row.metric == "time"]
        print(f"{operator}: a switch costs {(seconds[2] - (seconds[0] + seconds[1]) / 2) / arguments.nodes * 1e6:.2f} us")
        rows += measured
    print(d5.to_table(rows))
    if arguments.out:
        d5.write_results(rows, arguments.out)


if __name__ == "__main__":
    main()
