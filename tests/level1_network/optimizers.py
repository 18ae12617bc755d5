#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds networks that optimizers rewrote against ONNX Runtime: what they write, d5 loads and computes.

usage: optimizers.py [--out FOLDER] [NETWORK ...]

Each network is small and has random weights. PyTorch exports it, by the exporter that traces and, where
onnxscript is installed, by the one that captures. Then ONNX Runtime's own tools change it: its graph
optimizer, the fusions for transformers (onnxruntime.transformers), conversion to float16, dynamic and
static quantization (QDQ and QOperator), weights in blocks of 4 and 8 bits. d5's reference runs every
file beside ONNX Runtime's own program, which does so unoptimized and on one thread: optimized it computes
4-bit products with activations of 8 bits, on several threads it quantizes each one's share of a batch by
itself. Files that it cannot run on this device are held against the exported one. Which operators of com.microsoft a file holds is printed beside it. --out leaves the
models in a folder.

Allowed is, of an output's largest magnitude: 1e-4, some thousand roundings of float32; 5e-3 in float16;
1e-2 in quantized ones, where a rounding tips a number into the next step, 1/255 of its range.

Exit status 4: a judge, or d5's Python module, is not installed.
"""

import argparse
import contextlib
import logging
import pathlib
import sys
import tempfile
import warnings

try:
    import d5
    import numpy
    import onnx
    import onnxruntime
    import torch
    from onnx import numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    from onnxruntime.transformers import optimizer as transformers
    from onnxruntime.transformers.float16 import convert_float_to_float16
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

import exports  # these two stand beside this file
from optimized_networks import HEADS, NETWORKS, WIDTH

# Without VNNI, ONNX Runtime adds two products of uint8 and int8 in 16 bits, which saturate; its own advice for such
# processors is weights of 7 bits.
CPU_INFO = pathlib.Path("/proc/cpuinfo")
CPU_FLAGS = CPU_INFO.read_text().split() if CPU_INFO.exists() else []
PAIRS_SATURATE = "avx2" in CPU_FLAGS and not {"avx512_vnni", "avx_vnni"} & set(CPU_FLAGS)


class Drawn(CalibrationDataReader):
    def __init__(self, draw):
        self.batches = iter([{name: value.numpy() for name, value in draw().items()} for _ in range(4)])

    def get_next(self):
        return next(self.batches, None)


def optimized(source, target, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = target
    options.log_severity_level = 4
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def fused(source, target, kind, half=False):
    model = transformers.optimize_model(source, model_type=kind, num_heads=HEADS, hidden_size=WIDTH, opt_level=0)
    if half:
        model.convert_float_to_float16(keep_io_types=True)
    model.save_model_to_file(target)


def in_blocks(source, target, bits):
    quantizer = MatMulNBitsQuantizer(onnx.load(source), bits=bits, block_size=16, is_symmetric=bits == 8)
    quantizer.process()
    quantizer.model.save_model_to_file(target, False)


def steps(draw, kind):
    """What changes a file, by name; the tolerance of the answer."""
    levels = onnxruntime.GraphOptimizationLevel
    yield "basic", 1e-4, lambda s, t: optimized(s, t, levels.ORT_ENABLE_BASIC)
    yield "extended", 1e-4, lambda s, t: optimized(s, t, levels.ORT_ENABLE_EXTENDED)
    for keep in (False, True):
        yield ("float16-inside" if keep else "float16"), 5e-3, lambda s, t, keep=keep: onnx.save(
            convert_float_to_float16(onnx.load(s), keep_io_types=keep), t)
    for weights in (QuantType.QInt8, QuantType.QUInt8):
        yield f"dynamic-{weights}", 1e-2, lambda s, t, w=weights: quantize_dynamic(
            s, t, weight_type=w, reduce_range=PAIRS_SATURATE)
    for form in QuantFormat:
        for activations, per_channel in ((QuantType.QUInt8, False), (QuantType.QInt8, True)):
            yield f"{form}-{activations}", 1e-2, lambda s, t, f=form, a=activations, p=per_channel: quantize_static(
                s, t, Drawn(draw), quant_format=f, activation_type=a, weight_type=QuantType.QInt8, per_channel=p,
                reduce_range=PAIRS_SATURATE)
    yield "QDQ-QInt16", 1e-2, lambda s, t: quantize_static(
        s, t, Drawn(draw), activation_type=QuantType.QInt16, weight_type=QuantType.QInt16)
    for bits in (4, 8):
        yield f"blocks-of-{bits}-bits", 1e-2, lambda s, t, bits=bits: in_blocks(s, t, bits)
    if kind:
        yield "fused", 1e-4, lambda s, t: fused(s, t, kind)
        yield "fused-float16", 5e-3, lambda s, t: fused(s, t, kind, half=True)


def export(network, inputs, open_dim, captured, file):
    names = list(inputs)
    options = {"dynamic_axes": {name: {open_dim: "N"} for name in names}, "opset_version": 17}
    if captured:
        size = torch.export.Dim("N", min=1, max=64)
        options = {"dynamic_shapes": tuple({open_dim: size} for _ in names), "verbose": False}
    torch.onnx.export(network, tuple(inputs.values()), str(file), dynamo=captured, input_names=names, output_names=["y"], **options)


def own_operators(file):
    """Those that are not ONNX's, of all graphs."""
    found = set()

    def look(graph):
        for node in graph.node:
            if node.domain not in ("", "ai.onnx"):
                found.add(f"{node.domain}.{node.op_type}")
            for attribute in node.attribute:
                look(attribute.g)

    look(onnx.load(file).graph)
    return sorted(found)


def by_onnx_runtime(file, inputs):
    """What it is fed, in the file's own types, and what it answers."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    fed = {port.name: inputs[port.name].astype("f2") if port.type == "tensor(float16)" else inputs[port.name]
           for port in session.get_inputs()}
    return fed, session.run(["y"], fed)[0]


def is_spoiled(file):
    """Whether a tool left a scale that is no number: of a mask of -inf, which has no range."""
    tensors = (numpy_helper.to_array(tensor) for tensor in onnx.load(file).graph.initializer if "scale" in tensor.name)
    return any(not numpy.isfinite(tensor.astype("f8")).all() for tensor in tensors)


def judged(file, inputs, tolerance, original):
    """What is wrong, or nothing; and a remark to print. `original`: the answer of the exported file,
    which judges those that ONNX Runtime cannot run on this device."""
    if is_spoiled(file):
        return "", "its tool left a scale that is no number"
    refusal = ""
    try:
        fed, expected = by_onnx_runtime(file, inputs)
    except Exception as error:  # the tools left operators that it does not run
        fed, expected, refusal = inputs, original, f"; ONNX Runtime itself refuses it: {str(error).strip()[:90]}"
    try:
        answer = d5.executor(d5.Network.load(file)).inference(fed)["y"].numpy()
    except d5.Error as error:
        return ("", f"d5 refuses it, too{refusal}") if refusal else (f"is refused: {error}", "")
    if answer.shape != expected.shape or answer.dtype != expected.dtype:
        return f"is {answer.dtype} {answer.shape}, expected {expected.dtype} {expected.shape}", ""
    error = numpy.abs(answer.astype("f8") - expected).max() / numpy.abs(expected).max()
    told = f"differs by {error:.1e}"
    return ("" if error <= tolerance else f"{told}, allowed is {tolerance}"), told + refusal


def judge(name, captured, folder):
    make, draw, open_dim, kind = NETWORKS[name]
    torch.manual_seed(3)
    network = make().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.05 * torch.randn(parameter.shape)
    example = draw()
    inputs = {key: value.numpy() for key, value in example.items()}
    writer = "captured" if captured else "traced"
    source = folder / f"{name}-{writer}.onnx"
    export(network, example, open_dim, captured, source)
    files = [(source, 1e-4)]
    for step, tolerance, change in steps(draw, kind):
        target = folder / f"{name}-{writer}-{step}.onnx"
        try:
            change(str(source), str(target))
            files.append((target, tolerance))
        except Exception as error:  # a tool's error: d5 need not read a file that was not written
            print(f"{target.stem}: not made: {type(error).__name__}: {str(error).strip().splitlines()[0][:90]}")
            target.unlink(missing_ok=True)
    _, original = by_onnx_runtime(source, inputs)
    failures = []
    for file, tolerance in files:
        wrong, told = judged(file, inputs, tolerance, original)
        print(f"{file.stem}: {wrong or told}; {' '.join(own_operators(file)) or 'no operators of its own'}")
        if wrong:
            failures.append(f"{file.stem}: {wrong}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=" ".join(NETWORKS))
    parser.add_argument("--out", type=pathlib.Path, help="a folder, which keeps the models")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    torch.backends.mha.set_fastpath_enabled(False)  # one fused operator that has no export
    captures = exports.importlib.util.find_spec("onnxscript") is not None
    failures = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        folder = arguments.out or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for name in arguments.networks or NETWORKS:
            for captured in (False, True)[:1 + captures]:
                failures += judge(name, captured, folder)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
