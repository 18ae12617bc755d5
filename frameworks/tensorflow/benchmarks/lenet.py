#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LeNet written in TensorFlow's Python package, compared with d5; all interleaved in one process.

usage: lenet.py [--batch 1,64] [--threads N] [--samples N] [--out FILE.json]

The TensorFlow programs are eager calls, and the same in a tf.function: channels last, parameters as TensorFlow's tensors from the start,
inputs in memory. d5 runs TensorFlow's kernels node by node (`tensorflow`), and the network as one graph (`tensorflow:graph`). Answers are
compared before anything is measured. It needs the module d5 on the Python path.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_OVERRIDE_GLOBAL_THREADPOOL", "1")

import d5

d5.operators("tensorflow")  # loads the framework, which must precede the package

import numpy as np
import tensorflow as tf


def by_hand(network):
    """The network's logits for images N,28,28,1."""
    values = {name: tf.constant(np.array(network.fetch(name))) for name in (
        f"{layer}.{kind}" for layer in ("conv1", "conv2", "fc1", "fc2", "fc3") for kind in ("weight", "bias"))}
    filters = {layer: tf.transpose(values[f"{layer}.weight"], [2, 3, 1, 0]) for layer in ("conv1", "conv2")}

    def conv(x, layer, padding):
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters[layer], 1, padding), values[f"{layer}.bias"]))

    def linear(x, layer):
        return tf.matmul(x, values[f"{layer}.weight"], transpose_b=True) + values[f"{layer}.bias"]

    def logits(x):
        x = tf.nn.max_pool2d(conv(x, "conv1", "SAME"), 2, 2, "VALID")
        x = tf.nn.max_pool2d(conv(x, "conv2", "VALID"), 2, 2, "VALID")
        x = tf.reshape(tf.transpose(x, [0, 3, 1, 2]), [x.shape[0], -1])
        x = tf.nn.relu(linear(x, "fc1"))
        return linear(tf.nn.relu(linear(x, "fc2")), "fc3")

    return logits


def runs_of(batch):
    """The subjects by name, each after one run."""
    network = d5.model("lenet")
    inputs = {name: np.array(value) for name, value in d5.random_inputs(network, batch=batch).items()}
    image = tf.constant(np.transpose(next(iter(inputs.values())), [0, 2, 3, 1]))
    logits = by_hand(network)
    graph = tf.function(logits)
    runs = {"by hand, eager": lambda: logits(image).numpy(), "by hand, tf.function": lambda: graph(image).numpy()}
    for word in ("tensorflow", "tensorflow:graph"):
        executor = d5.executor(network, [word])
        runs[f"d5 {word}"] = lambda executor=executor: executor.inference(inputs)
    expected = runs["by hand, eager"]()
    for word in ("tensorflow", "tensorflow:graph"):
        got = np.array(runs[f"d5 {word}"]()["logits"])
        error = np.abs(got - expected).max() / np.abs(expected).max()
        assert error < 1e-5, f"d5 {word} differs by {error:.1e}"
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", default="1,64", help="sizes, separated by commas")
    parser.add_argument("--threads", type=int, default=d5.threads())
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--out", help="a results file")
    arguments = parser.parse_args()
    d5.set_threads(arguments.threads)
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    rows = []
    for batch in map(int, arguments.batch.split(",")):
        rows += d5.measure(runs_of(batch), name=f"lenet batch {batch}", samples=arguments.samples)
    print(d5.to_table(rows))
    if arguments.out:
        d5.write_results(rows, arguments.out)


if __name__ == "__main__":
    main()
