#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks in d5 and in the Python packages of ONNX Runtime, OpenVINO and torch, all interleaved in one process.

usage: outside_peers.py [MODEL ...] [--batch 1,16] [--threads 1,2] [--framework torch,auto] [--transform A,B] [--samples N]
                        [--budget SECONDS] [--out FILE.json [--resume]]

Each library is measured twice: called directly, and as d5's executor. Torch called directly runs the network's nodes as torch functions
in order (torch_program.py), eagerly and as TorchScript, frozen and optimized for inference. A final table has each library's direct time,
the ratio of d5's time to it, and that of auto to the best of d5's other executors, with the 95% intervals of paired ratios.

MODEL is a built-in network or an ONNX file; by default resnet-50, mobilenet-v1, transformer-encoder, and the ONNX files in
$D5_DATA_DIR/onnx-light (their batch of 1 is fixed). --framework names executors of d5, as in d5 net bench; executors missing in this build, and
peers that are not installed, are left out with a message. Every peer gets the file that d5 saves, float32, the same number of threads, and
inputs in memory. Answers are compared before the measurement. A peer that deviates by more than 1e-3 of the largest number is named at the
end, and measured nevertheless: rounding alone decides the answer of a network whose weights are all equal (those in onnx-light). OpenVINO is
set to compute in float32, because its default may be bfloat16.

--budget limits the time to about this many seconds. Combinations share it, down to six samples, the fewest for an interval; combinations
without a share are named. --resume measures what FILE.json lacks.
"""

import argparse
import copy
import itertools
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import d5  # before torch: it makes OpenMP's threads sleep soon


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


def torch_program(file, inputs, threads, scripted):
    import torch

    from torch_program import Program

    torch.set_num_threads(threads)
    program = Program(file).eval()
    given = [torch.from_numpy(inputs[name]) for name in program.inputs]
    call = program
    if scripted:
        with torch.no_grad():
            call = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(program, given)))

    def run():
        with torch.inference_mode():
            return dict(zip(program.outputs, (answer.numpy() for answer in call(*given))))

    return run


PEERS = {"onnxruntime by hand": onnx_runtime, "openvino by hand": openvino,
         "torch by hand": lambda *given: torch_program(*given, scripted=False),
         "torch script by hand": lambda *given: torch_program(*given, scripted=True)}
SAME = {"onnxruntime by hand": "onnxruntime:session", "openvino by hand": "openvino:compiled", "torch by hand": "torch",
        "torch script by hand": "torch:script"}


def d5_executor(network, framework, inputs):
    executor = d5.executor(network, framework.split("+"))
    executor.inference(inputs)
    if framework == "auto":
        print(f"auto chose {d5.framework_selection(executor).chosen}", file=sys.stderr)
    return lambda: executor.inference(inputs)


def built(words):
    """The executors of d5 that can be created here."""
    known = []
    for word in words:
        try:
            d5.executor(d5.model("lenet"), word.split("+"))
            known.append(word)
        except (d5.NotFound, d5.Unsupported) as missing:
            print(f"d5 {word} is left out: {missing}", file=sys.stderr)
    return known


def runs_of(network, frameworks, transforms, inputs, threads):
    """The subjects by name, each after one run, and those whose answers differ from the first's."""
    runs, differing = {}, []

    def add(name, make):
        try:
            runs[name] = make()
        except (ImportError, KeyError, d5.Unsupported) as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)

    for framework in frameworks:
        add(f"d5 {framework}", lambda: d5_executor(network, framework, inputs))
    if transforms:
        changed = copy.deepcopy(network)
        for transform in transforms:
            changed.apply(transform)
        for framework in frameworks:
            add(f"d5 {framework} {','.join(transforms)}", lambda: d5_executor(changed, framework, inputs))
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "model.onnx")
        network.save(file)
        for name, make in PEERS.items():
            add(name, lambda: make(file, inputs, threads))
    answers = {name: {key: np.array(value) for key, value in run().items()} for name, run in runs.items()}
    base, *others = answers
    for other in others:
        for key, expected in answers[base].items():
            error = np.abs(answers[other][key] - expected).max() / np.abs(expected).max()
            if not error < 1e-3:
                differing.append(f"{other}: {key} differs from that of {base} by {error:.1e}")
    return runs, differing


def samples_within(seconds, runs, most):
    """Takes samples: a timed run, an untimed one, and a wait of 20 ms (docs/reference/measuring.md)."""
    begin = time.monotonic()
    for run in runs.values():
        run()
    round_seconds = 2 * (time.monotonic() - begin) + 0.02 * len(runs)
    return int(min(most, max(6, seconds / round_seconds - 3)))


def times_by_case(rows):
    """The times by name, for each network, batch and number of threads."""
    cases = {}
    for row in rows:
        if row.metric == "time" and row.samples:
            cases.setdefault((row.subject, str(row.conditions["threads"])), {})[row.framework] = row
    return cases


def ratio(row, base):
    """Ratios sample by sample; both were taken interleaved."""
    pairs = d5.Measurement()
    pairs.samples = [a / b for a, b in zip(row.samples, base.samples)]
    low, high = pairs.interval
    return f"{pairs.value:.3f}" + (f" [{low:.3f}, {high:.3f}]" if low <= high else "")


def summary(rows):
    lines = [("network", "threads", "beside", "its ms", "d5's", "ms", "ratio [95% interval]")]

    def add(case, name, base, its_name, row):
        lines.append((*case, name, f"{base.value * 1e3:.3g}", its_name, f"{row.value * 1e3:.3g}", ratio(row, base)))

    for case, times in times_by_case(rows).items():
        for name, word in SAME.items():
            if name in times and f"d5 {word}" in times:
                add(case, name, times[name], word, times[f"d5 {word}"])
        single = [row for name, row in times.items() if name.startswith("d5 ") and name != "d5 auto"]
        if "d5 auto" in times and single:
            best = min(single, key=lambda row: row.value)
            add(case, f"best: {best.framework}", best, "auto", times["d5 auto"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def networks(words):
    """By their names."""
    if not words:
        words = ["resnet-50", "mobilenet-v1", "transformer-encoder"]
        words += sorted(map(str, pathlib.Path(os.environ.get("D5_DATA_DIR", ".")).glob("onnx-light/*/model.onnx")))
    for word in words:
        path = pathlib.Path(word)
        if path.suffix == ".onnx":
            yield (path.parent.name if path.stem == "model" else path.stem), lambda path=path: d5.Network.load(path)
        else:
            yield word, lambda word=word: d5.model(word)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL", help="built-in networks and ONNX files")
    parser.add_argument("--batch", default="1,16", help="sizes, separated by commas")
    parser.add_argument("--framework", default="torch,torch:script,onednn+torch,onnxruntime:session,openvino:compiled,auto",
                        help="executors of d5, separated by commas")
    parser.add_argument("--transform", default="", help="transform of d5's network, which is also measured without it")
    parser.add_argument("--threads", default=str(d5.threads()), help="numbers of them, separated by commas")
    parser.add_argument("--samples", type=int, default=30, help="maximum number of samples of each")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds for all measurements")
    parser.add_argument("--out", help="a results file, written after each combination")
    parser.add_argument("--resume", action="store_true", help="measure what --out lacks")
    arguments = parser.parse_args()
    if arguments.resume and not arguments.out:
        parser.error("--resume needs --out")
    end = time.monotonic() + arguments.budget
    frameworks = built(arguments.framework.split(","))
    transforms = list(filter(None, arguments.transform.split(",")))
    rows, remarks = [], []
    if arguments.resume and pathlib.Path(arguments.out).exists():
        rows += d5.read_results(arguments.out)
    known = times_by_case(rows).keys()
    sizes, threads = arguments.batch.split(","), arguments.threads.split(",")
    left = [(name, make, int(batch), count) for (name, make), batch, count in itertools.product(networks(arguments.models), sizes, threads)
            if (f"{name} batch {batch}", count) not in known]
    for done, (name, make, batch, count) in enumerate(left):
        subject = f"{name} batch {batch}"
        if time.monotonic() > end:
            print(f"{subject}, {count} threads: no time left", file=sys.stderr)
            continue
        print(f"{subject}, {count} threads", file=sys.stderr)
        d5.set_threads(int(count))
        d5.pin_threads()
        network = make()
        try:
            inputs = {key: np.array(value) for key, value in d5.random_inputs(network, batch=batch).items()}
        except d5.ValueError as fixed:
            print(f"{subject} is left out: {fixed}", file=sys.stderr)
            continue
        share = (end - time.monotonic()) / (len(left) - done)
        begin = time.monotonic()
        runs, differing = runs_of(network, frameworks, transforms, inputs, int(count))
        remarks += [f"{subject}, {count} threads: {difference}" for difference in differing]
        samples = samples_within(share - (time.monotonic() - begin), runs, arguments.samples)
        rows += d5.measure(runs, name=subject, samples=samples)
        if arguments.out:
            d5.write_results(rows, arguments.out)
    print(d5.to_table(rows))
    print()
    print("\n".join([summary(rows), *remarks]))


if __name__ == "__main__":
    main()
