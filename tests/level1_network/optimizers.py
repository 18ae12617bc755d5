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

import exports  # beside this file

nn = torch.nn
relu, gelu, silu = nn.functional.relu, nn.functional.gelu, nn.functional.silu
WIDTH, HEADS, LENGTH = 32, 4, 8


class Inverted(nn.Module):
    """A block of MobileNet: wider, each channel by itself, weighed, narrower. Source: Howard et al. (2019)."""

    def __init__(self, before, wide, after):
        super().__init__()
        self.widen = nn.Sequential(nn.Conv2d(before, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.Hardswish())
        self.each = nn.Sequential(nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6())
        self.weigh = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.ReLU(),
                                   nn.Conv2d(wide // 4, wide, 1), nn.Hardsigmoid())
        self.narrow = nn.Sequential(nn.Conv2d(wide, after, 1, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.each(self.widen(x))
        return x + self.narrow(y * self.weigh(y))


class Heads(nn.Module):
    """Attention written out, as fusions look for it. Source: Vaswani et al. (2017)."""

    def __init__(self, of=WIDTH):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(WIDTH, WIDTH), nn.Linear(of, WIDTH), nn.Linear(of, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, mask=None, source=None):
        source = x if source is None else source

        def split(y):
            return y.view(y.shape[0], y.shape[1], HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

        query, key, value = split(self.query(x)), split(self.key(source)), split(self.value(source))
        scores = query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        if mask is not None:
            scores = scores + mask
        y = (scores.softmax(-1) @ value).permute(0, 2, 1, 3).contiguous()
        return self.out(y.view(y.shape[0], y.shape[1], WIDTH))


class Layer(nn.Module):
    """Of an encoder: BERT normalizes behind each half, ViT before it."""

    def __init__(self, normalizes_before):
        super().__init__()
        self.heads, self.before = Heads(), normalizes_before
        self.norm, self.other_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, mask=None):
        if self.before:
            x = x + self.heads(self.norm(x), mask)
            return x + self.down(gelu(self.up(self.other_norm(x))))
        x = self.norm(self.heads(x, mask) + x)
        return self.other_norm(self.down(gelu(self.up(x))) + x)


class Bert(nn.Module):
    """Source: Devlin et al. (2018)."""

    def __init__(self):
        super().__init__()
        self.word, self.place, self.kind = nn.Embedding(60, WIDTH), nn.Embedding(LENGTH, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList([Layer(False), Layer(False)])
        self.register_buffer("places", torch.arange(LENGTH).unsqueeze(0))

    def forward(self, input_ids, attention_mask, token_type_ids):
        x = self.word(input_ids) + self.kind(token_type_ids)
        x = self.norm(x + self.place(self.places[:, :input_ids.shape[1]]))
        mask = (1 - attention_mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Decoder(nn.Module):
    """GPT-2's layers: a causal mask, GELU by a hyperbolic tangent. Source: Radford et al. (2019)."""

    def __init__(self):
        super().__init__()
        self.word, self.place = nn.Embedding(60, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList([Layer(True), Layer(True)])
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 60, bias=False)
        self.register_buffer("mask", torch.triu(torch.full((LENGTH, LENGTH), -1e4), 1))

    def forward(self, input_ids):
        x = self.word(input_ids) + self.place(torch.arange(input_ids.shape[1]))
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.out(self.norm(x))


class Rotated(nn.Module):
    """Llama's layer: root mean squares, queries and keys that are turned, a gate. Source: Touvron et al. (2023)."""

    def __init__(self):
        super().__init__()
        self.word, self.out = nn.Embedding(60, WIDTH), nn.Linear(WIDTH, 60, bias=False)
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.gate, self.up, self.down = nn.Linear(WIDTH, 48), nn.Linear(WIDTH, 48), nn.Linear(48, WIDTH)
        size = WIDTH // HEADS
        turns = torch.outer(torch.arange(LENGTH), 10000 ** (-torch.arange(0, size, 2) / size))
        self.register_buffer("cosine", torch.cat([turns, turns], -1).cos())
        self.register_buffer("sine", torch.cat([turns, turns], -1).sin())

    def normalized(self, x):
        return self.scale * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    def turned(self, x):
        first, second = x.chunk(2, -1)
        return x * self.cosine[:x.shape[2]] + torch.cat([-second, first], -1) * self.sine[:x.shape[2]]

    def forward(self, input_ids):
        x = self.word(input_ids)
        y = self.normalized(x)
        query, key, value = (to(y).view(*y.shape[:2], HEADS, -1).transpose(1, 2) for to in (self.query, self.key, self.value))
        y = nn.functional.scaled_dot_product_attention(self.turned(query), self.turned(key), value, is_causal=True)
        x = x + y.transpose(1, 2).reshape(x.shape)
        y = self.normalized(x)
        return self.out(self.normalized(x + self.down(silu(self.gate(y)) * self.up(y))))


class Vit(nn.Module):
    """Source: Dosovitskiy et al. (2020)."""

    def __init__(self):
        super().__init__()
        self.patches, self.places = nn.Conv2d(3, WIDTH, 4, 4), nn.Parameter(torch.zeros(1, 17, WIDTH))
        self.first = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.layers, self.norm = nn.Sequential(Layer(True), Layer(True)), nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.out(self.norm(self.layers(x))[:, 0])


class Diffusion(nn.Module):
    """A block of a network of diffusion: time, a text, groups that are normalized. Source: Rombach et al. (2022)."""

    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Conv2d(4, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, 4, 3, padding=1)
        self.groups, self.other_groups = nn.GroupNorm(8, WIDTH), nn.GroupNorm(8, WIDTH)
        self.inner, self.time = nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.Linear(16, WIDTH)
        self.norm, self.text_norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.text_heads = Heads(), Heads(24)
        self.gate, self.back = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, sample, timestep, encoder_hidden_states):
        x = self.before(sample)
        x = x + self.inner(silu(self.groups(x))) + self.time(silu(timestep))[:, :, None, None]
        y = x.flatten(2).transpose(1, 2)
        y = y + self.heads(self.norm(y))
        y = y + self.text_heads(self.text_norm(y), source=encoder_hidden_states)
        left, right = self.gate(y).chunk(2, -1)
        y = y + self.back(left * gelu(right))
        x = x + y.transpose(1, 2).reshape(x.shape)
        return self.after(silu(self.other_groups(nn.functional.interpolate(x, scale_factor=2.0))))


class Tagger(nn.Module):
    """Source: Cho et al. (2014)."""

    def __init__(self):
        super().__init__()
        self.word, self.cells = nn.Embedding(60, 12), nn.GRU(12, 16, bidirectional=True, batch_first=True)
        self.out = nn.Linear(32, 7)

    def forward(self, token):
        return self.out(self.cells(self.word(token))[0])


def mobilenet():
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), Inverted(8, 16, 8),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))


def words(*shape):
    return torch.randint(0, 20, shape)


def of_exports(name):
    make, draw, shape, _, open_dim = exports.NETWORKS[name]
    return make, lambda: {"x": draw(*shape)}, open_dim, None


# Network: how it is made, what makes its inputs, the dimension that is left open, and what the fusions
# for transformers take it for.
NETWORKS = {
    **{name: of_exports(name) for name in exports.NETWORKS},
    "mobilenet": (mobilenet, lambda: {"x": torch.randn(2, 3, 16, 16)}, 0, None),
    "gru": (Tagger, lambda: {"token": words(2, 6)}, 0, None),
    "bert": (Bert, lambda: {"input_ids": words(2, LENGTH), "attention_mask": (torch.arange(LENGTH) < torch.tensor([[8], [5]])).long(),
                            "token_type_ids": words(2, LENGTH) % 2}, 0, "bert"),
    "gpt-2": (Decoder, lambda: {"input_ids": words(2, LENGTH)}, 0, "gpt2"),
    "llama": (Rotated, lambda: {"input_ids": words(2, LENGTH)}, 0, "gpt2"),
    "vit": (Vit, lambda: {"x": torch.randn(2, 3, 16, 16)}, 0, "vit"),
    "diffusion": (Diffusion, lambda: {"sample": torch.randn(2, 4, 8, 8), "timestep": torch.randn(2, 16),
                                      "encoder_hidden_states": torch.randn(2, 5, 24)}, 0, "unet"),
}


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
        yield f"dynamic-{weights}", 1e-2, lambda s, t, w=weights: quantize_dynamic(s, t, weight_type=w)
    for form in QuantFormat:
        for activations, per_channel in ((QuantType.QUInt8, False), (QuantType.QInt8, True)):
            yield f"{form}-{activations}", 1e-2, lambda s, t, f=form, a=activations, p=per_channel: quantize_static(
                s, t, Drawn(draw), quant_format=f, activation_type=a, weight_type=QuantType.QInt8, per_channel=p)
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
    """What is wrong, or nothing; and what is to be told. `original`: the answer of the exported file,
    which judges those that ONNX Runtime cannot run on this device."""
    if is_spoiled(file):
        return "", "its tool left a scale that is no number"
    refusal = ""
    try:
        fed, expected = by_onnx_runtime(file, inputs)
    except Exception as error:  # whatever the tools left that it does not run
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
        except Exception as error:  # of the tools; what they cannot write is not d5's to read
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
