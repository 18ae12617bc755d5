# SPDX-License-Identifier: Apache-2.0
"""Decoders in the forms of exporters, with ONNX Runtime's scores of them.

usage: kv_state_judge.py FOLDER
Writes for each form FORM.onnx and, as float64, FORM.tokens, FORM.scores (after each token, in one run without a past) and
FORM.greedy (tokens after the first 5); and further files NAME.onnx, which kv-state refuses, with words of the reason, one a
line, in NAME.refused. Exit status 3: this Python lacks onnx or onnxruntime. The form of torch is left out where there is no
torch.
"""
import pathlib
import sys

try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    sys.exit(3)

LAYERS, WIDTH, HEADS, KV_HEADS, SIZE, VOCABULARY, TABLE = 2, 32, 4, 2, 16, 60, 48
PROMPT = 5  # tokens before greedy ones
PASTS = [f"past_key_values.{i}.{part}" for i in range(LAYERS) for part in ("key", "value")]


class Form:
    """A decoder, built node by node. Variants change one thing each."""

    def __init__(self, **variant: object) -> None:
        self.variant = variant
        self.random = numpy.random.default_rng(5)
        self.nodes: list[onnx.NodeProto] = []
        self.values: dict[str, numpy.ndarray] = {}

    def constant(self, name: str, value: object, dtype: type = numpy.int64) -> str:
        self.values[name] = numpy.asarray(value, dtype)
        return name

    def weight(self, name: str, *shape: int) -> str:
        return self.constant(name, self.random.normal(size=shape) * 0.3, numpy.float32)

    def add(self, op: str, inputs: list[str], output: str | list[str], **attributes: object) -> str:
        outputs = [output] if isinstance(output, str) else output
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"node.{outputs[0]}", **attributes))
        return outputs[0]

    def norm(self, name: str, x: str) -> str:
        scale = self.constant(f"{name}.scale", 1 + 0.1 * self.random.normal(size=WIDTH), numpy.float32)
        return self.add("RMSNormalization", [x, scale], name, epsilon=1e-5)

    def tables(self) -> list[str]:
        angles = numpy.outer(numpy.arange(TABLE), 100.0 ** (-numpy.arange(SIZE // 2) / (SIZE // 2)))
        return [self.constant("cos", numpy.cos(angles), numpy.float32), self.constant("sin", numpy.sin(angles), numpy.float32)]

    def lengths(self) -> None:
        """Numbers of past and of new tokens, as exporters compute them: from shapes."""
        self.constant("zero", 0)
        self.constant("one", 1)
        self.constant("first", [0])
        self.constant("second", [1])
        self.add("Squeeze", [self.add("Shape", ["input_ids"], "new.shape", start=1, end=2)], "new")
        self.add("Squeeze", [self.add("Shape", [PASTS[1]], "past.shape", start=2, end=3)], "past")
        self.add("Add", ["past", "new"], "all")

    def mask(self) -> str:
        """All tokens up to itself, of those that attention_mask has."""
        rows = self.add("Unsqueeze", [self.add("Add", [self.add("Range", ["zero", "new", "one"], "steps"), "past"], "places"), "second"], "rows")
        columns = self.add("Unsqueeze", [self.add("Range", ["zero", "all", "one"], "range"), "first"], "columns")
        may = self.add("LessOrEqual", [columns, rows], "causal")
        if window := self.variant.get("window"):
            near = self.add("Less", [self.add("Sub", [rows, columns], "distance"), self.constant("window", window)], "near")
            may = self.add("And", [may, near], "window.mask")
        known = self.add("Unsqueeze", [self.add("Cast", ["attention_mask"], "flags", to=TensorProto.BOOL), self.constant("axes", [1, 2])], "known")
        may = self.add("And", [may, known], "mask")
        if self.variant.get("scores"):
            low = self.constant("low", numpy.finfo(numpy.float32).min, numpy.float32)
            may = self.add("Where", ["mask", self.constant("high", 0, numpy.float32), low], "scores")
        return may

    def heads(self, name: str, x: str, heads: int) -> str:
        rows = self.add("MatMul", [x, self.weight(f"{name}.weight", WIDTH, heads * SIZE)], f"{name}.rows")
        split = self.add("Reshape", [rows, self.constant(f"{name}.shape", [0, 0, heads, SIZE])], f"{name}.split")
        return self.add("Transpose", [split], name, perm=[0, 2, 1, 3])

    def repeated(self, name: str, x: str) -> str:
        """Heads of keys and values repeated for the queries, as torch exports them."""
        wide = self.add("Unsqueeze", [x, self.constant("two", [2])], f"{name}.wide")
        total = self.add("Reshape", ["all", self.constant("column", [-1])], f"{name}.total")
        texts = self.add("Shape", [PASTS[0]], f"{name}.texts", start=0, end=1)
        size = self.constant("size", [SIZE])
        groups = [texts, self.constant("kv", [KV_HEADS]), self.constant("group", [HEADS // KV_HEADS]), total, size]
        wide = self.add("Expand", [wide, self.add("Concat", groups, f"{name}.groups", axis=0)], f"{name}.expanded")
        heads = self.add("Concat", [texts, self.constant("heads", [HEADS]), total, size], f"{name}.heads", axis=0)
        return self.add("Reshape", [wide, heads], f"{name}.repeated")

    def joined(self, layer: int, x: str) -> str:
        """Attention with Concat of past and new rows, opset 23."""
        name = f"layer{layer}"
        if layer == 0:
            self.cos, self.sin = self.tables()
            self.lengths()
            self.seen = self.mask()
            self.positions = "position_ids"
            if self.variant.get("own_positions"):
                self.positions = self.add("Unsqueeze", ["places", "first"], "own.positions")
        query, key = (self.add("RotaryEmbedding", [self.heads(f"{name}.{part}", x, heads), self.cos, self.sin, self.positions], f"{name}.{part}.turned")
                      for part, heads in (("query", HEADS), ("key", KV_HEADS)))
        value = self.heads(f"{name}.value", x, KV_HEADS)
        axis = self.variant.get("axis", 2)
        past = [PASTS[2 * layer], PASTS[2 * layer + 1]]
        key, value = (self.add("Concat", [before, new][:: self.variant.get("order", 1)], before.replace("past_key_values", "present"), axis=axis)
                      for before, new in zip(past, (key, value)))
        if self.variant.get("repeats"):
            key, value = self.repeated(f"{name}.k", key), self.repeated(f"{name}.v", value)
        if self.variant.get("scaled"):
            key = self.add("Mul", [key, self.constant("factor", 2, numpy.float32)], f"{name}.scaled")
        mask, causal = ("", 1) if self.variant.get("causal") else (self.seen, 0)
        heads = self.add("Attention", [query, key, value, mask], f"{name}.mean", is_causal=causal)
        return self.add("Reshape", [self.add("Transpose", [heads], f"{name}.back", perm=[0, 2, 1, 3]), self.constant("merged", [0, 0, -1])], f"{name}.merged")

    def grouped(self, layer: int, x: str) -> str:
        """com.microsoft's GroupQueryAttention, lengths from the mask, rotary embedding inside."""
        name = f"layer{layer}"
        if layer == 0:
            self.cos, self.sin = self.tables()
            sums = self.add("ReduceSum", ["attention_mask", self.constant("axis", [1])], "sums", keepdims=1)
            self.add("Cast", [self.add("Sub", [sums, self.constant("back", [1])], "last")], "seqlens", to=TensorProto.INT32)
            whole = self.add("Gather", [self.add("Shape", ["attention_mask"], "mask.shape"), self.constant("place", 1)], "whole", axis=0)
            self.add("Cast", [whole], "total", to=TensorProto.INT32)
        parts = [self.add("MatMul", [x, self.weight(f"{name}.{part}.weight", WIDTH, heads * SIZE)], f"{name}.{part}")
                 for part, heads in (("query", HEADS), ("key", KV_HEADS), ("value", KV_HEADS))]
        past = PASTS[2 * layer : 2 * layer + 2]
        presents = [before.replace("past_key_values", "present") for before in past]
        return self.add("GroupQueryAttention", [*parts, *past, "seqlens", "total", self.cos, self.sin], [f"{name}.mean", *presents],
                        domain="com.microsoft", num_heads=HEADS, kv_num_heads=KV_HEADS, do_rotary=1)

    def model(self) -> onnx.ModelProto:
        is_grouped = bool(self.variant.get("grouped"))
        x = self.add("Gather", [self.weight("embedding", VOCABULARY, WIDTH), "input_ids"], "embedded")
        for layer in range(LAYERS):
            attended = (self.grouped if is_grouped else self.joined)(layer, self.norm(f"layer{layer}.norm", x))
            attended = self.add("MatMul", [attended, self.weight(f"layer{layer}.out.weight", HEADS * SIZE, WIDTH)], f"layer{layer}.out")
            x = self.add("Add", [x, attended], f"layer{layer}.sum")
            up = self.add("MatMul", [self.norm(f"layer{layer}.norm2", x), self.weight(f"layer{layer}.up.weight", WIDTH, WIDTH)], f"layer{layer}.up")
            x = self.add("Add", [x, self.add("Mul", [self.add("Sigmoid", [up], f"layer{layer}.gate"), up], f"layer{layer}.silu")], f"layer{layer}.sum2")
        self.add("MatMul", [self.norm("norm", x), self.weight("head", WIDTH, VOCABULARY)], "logits")
        inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["B", "T"]),
                  helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["B", "P + T"])]
        if not is_grouped and not self.variant.get("own_positions"):
            inputs.append(helper.make_tensor_value_info("position_ids", TensorProto.INT64, ["B", "T"]))
        if self.variant.get("further"):
            inputs.append(helper.make_tensor_value_info("further", TensorProto.FLOAT, ["B", "T"]))
        inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", KV_HEADS, "P", SIZE]) for name in PASTS]
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", "T", VOCABULARY])]
        outputs += [helper.make_tensor_value_info(name.replace("past_key_values", "present"), TensorProto.FLOAT, ["B", KV_HEADS, "P + T", SIZE]) for name in PASTS]
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, [numpy_helper.from_array(value, name) for name, value in self.values.items()])
        opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def torch_model(path: pathlib.Path) -> bool:
    """The decoder as torch exports it, opset 23; False without torch."""
    try:
        import torch
        from torch import nn
        from torch.nn import functional
    except ImportError:
        return False

    def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.RMSNorm(WIDTH, 1e-5)
            self.query, self.out = nn.Linear(WIDTH, HEADS * SIZE, bias=False), nn.Linear(HEADS * SIZE, WIDTH, bias=False)
            self.key, self.value = (nn.Linear(WIDTH, KV_HEADS * SIZE, bias=False) for _ in "kv")

        def forward(self, x, cos, sin, mask, past):  # noqa: ANN001, ANN202
            texts, new, _ = x.shape
            y = self.norm(x)
            q, k, v = (part(y).view(texts, new, -1, SIZE).transpose(1, 2) for part in (self.query, self.key, self.value))
            k, v = torch.cat((past[0], turned(k, cos, sin)), 2), torch.cat((past[1], v), 2)
            wide = [z[:, :, None].expand(texts, KV_HEADS, HEADS // KV_HEADS, z.shape[2], SIZE).reshape(texts, HEADS, z.shape[2], SIZE) for z in (k, v)]
            mean = functional.scaled_dot_product_attention(turned(q, cos, sin), *wide, attn_mask=mask)
            return x + self.out(mean.transpose(1, 2).reshape(texts, new, HEADS * SIZE)), k, v

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding, self.norm = nn.Embedding(VOCABULARY, WIDTH), nn.RMSNorm(WIDTH, 1e-5)
            self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
            self.register_buffer("frequencies", 100.0 ** (-torch.arange(0, SIZE, 2).float() / SIZE))

        def forward(self, input_ids, attention_mask, position_ids, past):  # noqa: ANN001, ANN202
            angles = position_ids[:, :, None].float() * self.frequencies
            angles = torch.cat((angles, angles), -1)[:, None]
            before, new = past[0][0].shape[2], input_ids.shape[1]
            mask = torch.arange(before + new)[None] <= torch.arange(new)[:, None] + before
            mask = mask[None, None] & attention_mask.bool()[:, None, None, :]
            x, presents = self.embedding(input_ids), []
            for layer, own in zip(self.layers, past):
                x, key, value = layer(x, angles.cos(), angles.sin(), mask, own)
                presents += [key, value]
            return self.head(self.norm(x)), *presents

    torch.manual_seed(3)
    decoder = Decoder().eval()
    for weight in decoder.parameters():
        if weight.dim() == 2:
            nn.init.normal_(weight, std=0.3)
    past = [tuple(torch.zeros(2, KV_HEADS, 4, SIZE) for _ in "kv") for _ in range(LAYERS)]
    inputs = torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 7, dtype=torch.int64), torch.zeros(2, 3, dtype=torch.int64), past
    free = torch.export.Dim.DYNAMIC
    sizes = {0: free, 1: free}, {0: free, 1: free}, {0: free, 1: free}, [({0: free, 2: free},) * 2 for _ in range(LAYERS)]
    names = [name.replace("past_key_values", "present") for name in PASTS]
    torch.onnx.export(decoder, inputs, dynamo=True, opset_version=23, dynamic_shapes=sizes, verbose=False,
                      input_names=["input_ids", "attention_mask", "position_ids", *PASTS], output_names=["logits", *names]).save(str(path))
    return True


def scores(session: onnxruntime.InferenceSession, tokens: list[int]) -> numpy.ndarray:
    """Scores of all tokens in one run without a past."""
    fed = {"input_ids": numpy.array([tokens]), "attention_mask": numpy.ones((1, len(tokens)), numpy.int64),
           "position_ids": numpy.arange(len(tokens))[None]}
    fed |= {name: numpy.zeros((1, KV_HEADS, 0, SIZE), numpy.float32) for name in PASTS}
    known = {value.name for value in session.get_inputs()}
    return session.run(["logits"], {name: value for name, value in fed.items() if name in known})[0][0]


FORMS = {"joined": {}, "scores": {"scores": True}, "repeated": {"repeats": True}, "grouped": {"grouped": True}}
REFUSED = {
    "window": ({"window": 6}, ["mask 'mask'", "causal"]),
    "own_positions": ({"own_positions": True}, ["Shape 'node.past.shape'", "past_key_values.0.value"]),
    "causal": ({"causal": True}, ["Attention 'node.layer0.mean'", "is_causal"]),
    "further": ({"further": True}, ["input 'further'"]),
    "axis": ({"axis": 1}, ["Concat 'node.present.0.key'", "axis 1"]),
    "order": ({"order": -1}, ["Concat 'node.present.0.key'", "past_key_values.0.key"]),
    "scaled": ({"scaled": True}, ["Attention 'node.layer0.mean'", "Mul 'node.layer0.scaled'"]),
}


def main(folder: pathlib.Path) -> None:
    for name, variant in FORMS.items():
        onnx.save(Form(**variant).model(), folder / f"{name}.onnx")
    names = [*FORMS, *(["torch"] if torch_model(folder / "torch.onnx") else [])]
    for name, (variant, words) in REFUSED.items():
        onnx.save(Form(**variant).model(), folder / f"{name}.onnx")
        (folder / f"{name}.refused").write_text("".join(word + "\n" for word in words))
    for name in names:
        session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
        tokens = numpy.random.default_rng(9).integers(VOCABULARY, size=20).tolist()
        greedy = tokens[:PROMPT]
        for _ in range(8):
            greedy.append(int(scores(session, greedy)[-1].argmax()))
        for part, numbers in (("tokens", tokens), ("scores", scores(session, tokens)), ("greedy", greedy[PROMPT:])):
            numpy.asarray(numbers, numpy.float64).tofile(folder / f"{name}.{part}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
