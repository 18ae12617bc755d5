#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network in d5 beside the Python packages of ONNX Runtime and OpenVINO, all interleaved in one process.

Both libraries are measured twice: called by hand, and as d5's executors onnxruntime:session and openvino:compiled.

usage: outside_peers.py [MODEL] [--batch 1,16] [--framework torch,auto] [--transform A,B] [--threads N] [--samples N]
                        [--out FILE.json]

MODEL is a built-in network or an ONNX file, resnet-50 by default. --framework names executors of d5, as d5 net bench does; those that this
build lacks are left out, and said so. Every peer gets the file that d5 saves, float32, as many threads, and
inputs that lie in memory; answers are compared before anything is measured (within 1e-3 of the largest number). A peer that is not
installed is left out, and said so. OpenVINO is told to compute in float32, for its default may be bfloat16.
"""

import argparse
import copy
import pathlib
import sys
import tempfile

import numpy as np

import d5


def onnx_runtime(file, inputs, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: dict(zip(names, session.run(names, inputs)))


def openvino(file, inputs, threads):
    import openvino

    model = openvino.Core().compile_model(file, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"})
    request = model.create_infer_request()
    names = [output.any_name for output in model.outputs]

    def run():
        answers = request.infer(inputs, share_inputs=True, share_outputs=True)
        return {name: answers[name] for name in names}

    return run


PEERS = {"onnxruntime": onnx_runtime, "openvino": openvino}


def d5_executor(network, framework, inputs):
    executor = d5.executor(network, framework.split("+"))
    return lambda: executor.inference(inputs)


def built(words):
    """Those of d5's executors that can be made here."""
    known = []
    for word in words:
        try:
            d5.executor(d5.model("lenet"), word.split("+"))
            known.append(word)
        except (d5.NotFound, d5.Unsupported) as missing:
            print(f"d5 {word} is left out: {missing}", file=sys.stderr)
    return known


def runs_of(network, frameworks, transforms, inputs, threads):
    """What is measured, by name; one run of each has been made."""
    runs = {f"d5 {framework}": d5_executor(network, framework, inputs) for framework in frameworks}
    if transforms:
        changed = copy.deepcopy(network)
        for transform in transforms:
            changed.apply(transform)
        runs |= {f"d5 {framework} {','.join(transforms)}": d5_executor(changed, framework, inputs)
                 for framework in frameworks}
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "model.onnx")
        network.save(file)
        for name, make in PEERS.items():
            try:
                runs[name] = make(file, inputs, threads)
            except ImportError as missing:
                print(f"{name} is left out: {missing}", file=sys.stderr)
    answers = {name: {key: np.array(value) for key, value in run().items()} for name, run in runs.items()}
    base, *others = answers
    for other in others:
        for key, expected in answers[base].items():
            error = np.abs(answers[other][key] - expected).max() / np.abs(expected).max()
            assert error < 1e-3, f"{other}: {key} differs from {base} by {error:.1e}"
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="resnet-50")
    parser.add_argument("--batch", default="1,16", help="sizes, separated by commas")
    parser.add_argument("--framework", default="torch,auto,onnxruntime:session,openvino:compiled",
                        help="executors of d5, separated by commas")
    parser.add_argument("--transform", default="", help="of d5's network, which is measured without, too")
    parser.add_argument("--threads", type=int, default=d5.threads())
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--out", help="a results file")
    arguments = parser.parse_args()
    d5.set_threads(arguments.threads)
    frameworks = built(arguments.framework.split(","))
    rows = []
    for batch in map(int, arguments.batch.split(",")):
        network = d5.model(arguments.model)
        inputs = {name: np.array(value) for name, value in d5.random_inputs(network, batch=batch).items()}
        runs = runs_of(network, frameworks, list(filter(None, arguments.transform.split(","))),
                       inputs, arguments.threads)
        rows += d5.measure(runs, name=f"{arguments.model} batch {batch}", samples=arguments.samples)
    print(d5.to_table(rows))
    if arguments.out:
        d5.write_results(rows, arguments.out)


if __name__ == "__main__":
    main()
