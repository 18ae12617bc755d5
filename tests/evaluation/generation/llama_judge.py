# SPDX-License-Identifier: Apache-2.0
"""A small Llama with random weights in bfloat16, in two shards, and PyTorch's scores of it in float64.

usage: llama_judge.py FOLDER
Writes the files of a model as Hugging Face's transformers name them, and truth.json: tokens, and the scores of the next
token after each. Exit status 3: this Python has no torch.
"""
import json
import pathlib
import struct
import sys

try:
    import torch
    from torch.nn import functional
except ImportError:
    sys.exit(3)

LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN, VOCABULARY = 2, 32, 4, 2, 48, 256
SIZE = WIDTH // HEADS
BASE, EPSILON = 5000.0, 1e-5


def random_weights() -> dict[str, torch.Tensor]:
    torch.manual_seed(7)
    shapes = {"model.embed_tokens.weight": (VOCABULARY, WIDTH), "lm_head.weight": (VOCABULARY, WIDTH), "model.norm.weight": (WIDTH,)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        shapes |= {layer + "input_layernorm.weight": (WIDTH,), layer + "post_attention_layernorm.weight": (WIDTH,)}
        shapes |= {layer + "self_attn.q_proj.weight": (WIDTH, WIDTH), layer + "self_attn.o_proj.weight": (WIDTH, WIDTH)}
        shapes |= {layer + f"self_attn.{x}_proj.weight": (KV_HEADS * SIZE, WIDTH) for x in "kv"}
        shapes |= {layer + f"mlp.{x}_proj.weight": (HIDDEN, WIDTH) for x in ("gate", "up")}
        shapes[layer + "mlp.down_proj.weight"] = (WIDTH, HIDDEN)
    # Large enough that attention chooses.
    return {name: (torch.randn(shape) * (0.3 if len(shape) == 2 else 0.1) + (len(shape) == 1)).bfloat16() for name, shape in shapes.items()}


def turned(x: torch.Tensor) -> torch.Tensor:
    """Rotary embedding in halves (Su et al., "RoFormer", 2021): heads x length x size."""
    angles = torch.outer(torch.arange(x.shape[-2]).double(), BASE ** (-torch.arange(0, SIZE, 2).double() / SIZE))
    first, second = x[..., : SIZE // 2], x[..., SIZE // 2 :]
    return torch.cat((first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()), -1)


def scores(weights: dict[str, torch.Tensor], tokens: list[int]) -> torch.Tensor:
    """Touvron et al., "LLaMA" (2023), with grouped-query attention."""
    w = {name: weight.double() for name, weight in weights.items()}
    x = w["model.embed_tokens.weight"][tokens]
    for i in range(LAYERS):
        at = {name.removeprefix(f"model.layers.{i}."): weight for name, weight in w.items()}
        y = functional.rms_norm(x, (WIDTH,), at["input_layernorm.weight"], EPSILON)
        q, k, v = (functional.linear(y, at[f"self_attn.{n}_proj.weight"]).unflatten(-1, (-1, SIZE)).transpose(0, 1) for n in "qkv")
        y = functional.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True, enable_gqa=True)
        x = x + functional.linear(y.transpose(0, 1).flatten(1), at["self_attn.o_proj.weight"])
        y = functional.rms_norm(x, (WIDTH,), at["post_attention_layernorm.weight"], EPSILON)
        gate, up = (functional.linear(y, at[f"mlp.{n}_proj.weight"]) for n in ("gate", "up"))
        x = x + functional.linear(functional.silu(gate) * up, at["mlp.down_proj.weight"])
    return functional.linear(functional.rms_norm(x, (WIDTH,), w["model.norm.weight"], EPSILON), w["lm_head.weight"])


def write_shard(path: pathlib.Path, tensors: dict[str, torch.Tensor]) -> None:
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        content = tensor.view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def letter_of(byte: int) -> str:
    """The letter of a byte in files of byte-level BPE, as GPT-2's encoder.py has it."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return chr(byte if byte in own else 256 + sum(b not in own for b in range(byte)))


def main(folder: pathlib.Path) -> None:
    weights = random_weights()
    names = list(weights)
    shards = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, own in shards.items():
        write_shard(folder / file, {name: weights[name] for name in own})
    index = {"metadata": {}, "weight_map": {name: file for file, own in shards.items() for name in own}}
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": WIDTH,
        "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": 64, "rms_norm_eps": EPSILON, "rope_theta": BASE, "tie_word_embeddings": False,
        "vocab_size": VOCABULARY, "eos_token_id": [0, 2], "dtype": "bfloat16"}
    tokenizer = {
        "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": {"type": "ByteLevel"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": {letter_of(byte): byte for byte in range(256)}, "merges": []}}
    tokens = torch.randint(VOCABULARY, (20,)).tolist()
    truth = {"tokens": tokens, "logits": scores(weights, tokens).flatten().tolist()}
    for file, content in {"model.safetensors.index.json": index, "config.json": config, "tokenizer.json": tokenizer,
                          "truth.json": truth}.items():
        (folder / file).write_text(json.dumps(content))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
