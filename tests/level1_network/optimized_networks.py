# SPDX-License-Identifier: Apache-2.0
"""The small networks that optimizers.py has rewritten: convolutions, recurrence, attention."""

import exports  # beside this file
import torch

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
    """A layer of an encoder: BERT normalizes behind each half, ViT before it."""

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
