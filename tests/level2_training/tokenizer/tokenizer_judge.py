#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the tokenizer `bpe`: Hugging Face's wheel (PyPI's tokenizers) trains files of each known kind, and both
encode the same random text in many scripts, id by id.

usage: tokenizer_judge.py TOKENIZER_IDS [--seed N] [--texts N] [--speed] [tokenizer.json ...]
Files that are given are judged instead of trained ones. Exit status 4 where tokenizers is not installed, or d5 was built without ICU.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator

try:
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(4)

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = (CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
BLOCKS = ((0x20, 0x7F), (0xA0, 0x180), (0x250, 0x370), (0x370, 0x530), (0x5D0, 0x700), (0x900, 0xE80), (0x1100, 0x1200),
          (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2190), (0x2190, 0x2800), (0x3000, 0x3100), (0x4E00, 0x5000),
          (0xAC00, 0xB000), (0xE000, 0xE010), (0xFB00, 0xFB50), (0xFF00, 0xFFF0), (0x10000, 0x10100),
          (0x1D400, 0x1D500), (0x1F300, 0x1F700), (0x20000, 0x20040))
SPACES = (" ", "  ", "\n", "\r\n", "\t", "\n\n ", " \n", "\u00a0", "\u2003", "\u2028", "\u3000", "\x0b", "\x85", "\x1c")
ODD = ("'s", "'S", "'ll", "'LL", "'Re", "'\u017f", "'VE", "'d", "''t", " 's", "\0", "\x7f", "123", "1234567",
       "\u0661\u0662", "\u00bd", "\u2167", "e\u0301", "\u212b", "\u1112\u1161\u11ab", "\ufb01",
       "\U0001f469\u200d\U0001f4bb", "\u0915\u094d\u0937", "<|end|>", "<|end", "<mask>", " <mask> ", "<tool>",
       "don't", "I'M", "x'Sy", "...\n\n", "!\r\n", "\ufeff", "\ufffd")
WORDS = ("the", "Words", "and", "in", "Straße", "мир", "слова", "世界", "日本語", "한국어", "नमस्ते", "مرحبا",
         "שלום", "ελληνικά", "ไทย", "code", "int", "return", "==", "()", "{}", "2026", "3.14")


def character(random_source: random.Random) -> str:
    """One that both sides' editions of Unicode know: the wheel orders only combining marks of old ones."""
    while True:
        one = chr(random_source.randrange(*random_source.choice(BLOCKS)))
        edition = unicodedata.ucd_3_2_0 if unicodedata.combining(one) else unicodedata
        if edition.category(one) not in ("Cn", "Cs"):
            return one


def text(random_source: random.Random) -> str:
    choice = random_source.choice
    kinds = (lambda: character(random_source), lambda: choice(SPACES), lambda: choice(ODD), lambda: choice(WORDS),
             lambda: choice((" ", "", "\n")) + choice(WORDS),
             lambda: character(random_source) * random_source.randrange(1, 40))
    weights = choice(((4, 2, 2, 4, 4, 1), (1, 6, 2, 1, 1, 0), (1, 1, 1, 12, 30, 0), (9, 1, 1, 0, 0, 3)))
    return "".join(kind() for kind in random_source.choices(kinds, weights, k=random_source.randrange(60)))


def byte_level(**options) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False, **options)


def split(pattern: str) -> pre_tokenizers.PreTokenizer:
    cut = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    return pre_tokenizers.Sequence([cut, byte_level(use_regex=False)])


def trained(name: str, cut: pre_tokenizers.PreTokenizer, normalizer=None) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = cut
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    source = random.Random(name)
    trainer = trainers.BpeTrainer(vocab_size=1500, show_progress=False, special_tokens=["<|end|>", "<|start|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator((text(source) for _ in range(1500)), trainer)
    added = tokenizers.AddedToken
    tokenizer.add_tokens([added("<mask>", lstrip=True, normalized=False), added("<mask", normalized=False),
                          added("<tool>", rstrip=True, normalized=False), added("\u212b", normalized=True)])
    return tokenizer


def changed(tokenizer: tokenizers.Tokenizer, change) -> tokenizers.Tokenizer:
    content = json.loads(tokenizer.to_str())
    change(content)
    return tokenizers.Tokenizer.from_str(json.dumps(content))


def with_whole_words(content: dict) -> None:
    model = content["model"]
    model.update(ignore_merges=True, merges=model["merges"][::3])


def without_spaces(content: dict) -> None:
    """Takes the byte of a space from the vocabulary; ids stay dense, as the wheel wants them."""
    model = content["model"]
    kept = [entry for entry in sorted(model["vocab"], key=model["vocab"].get) if "\u0120" not in entry]
    merges = [pair for pair in model["merges"] if "\u0120" not in "".join(pair)]
    model.update(unk_token="<|start|>", fuse_unk=True, merges=merges, vocab={entry: i for i, entry in enumerate(kept)})
    content["added_tokens"] = [token for token in content["added_tokens"] if token["special"]]


def without_spaces_or_unknown(content: dict) -> None:
    without_spaces(content)
    content["model"].update(unk_token=None)


def known_kinds() -> Iterator[tuple[str, tokenizers.Tokenizer]]:
    yield "gpt2", trained("gpt2", byte_level())
    yield "gpt2 behind a space", trained("space", pre_tokenizers.ByteLevel(add_prefix_space=True))
    digits = pre_tokenizers.Digits(individual_digits=True)
    yield "smollm", trained("smollm", pre_tokenizers.Sequence([digits, byte_level()]))
    llama3 = trained("llama3", split(LLAMA3))
    llama3.post_processor = processors.TemplateProcessing(single="<|start|> $A", special_tokens=[("<|start|>", 1)])
    yield "llama3", llama3
    yield "llama3, whole words", changed(llama3, with_whole_words)
    yield "qwen2", trained("qwen2", split(QWEN2), normalizers.NFC())
    yield "qwen2 in NFKC", trained("nfkc", split(QWEN2), normalizers.Sequence([normalizers.NFD(), normalizers.NFKC()]))

    yield "no token for a space", changed(trained("unknown", byte_level()), without_spaces)
    yield "spaces are left out", changed(trained("unknown", byte_level()), without_spaces_or_unknown)


def encoded(program: str, file: pathlib.Path, texts: list[bytes], *options: str) -> tuple[list[list[int]], float]:
    command = [program, "bpe", f"file={file}", *options]
    given = b"".join(b"%d\n%s" % (len(t), t) for t in texts)
    run = subprocess.run(command, input=given, capture_output=True)
    if b"built without ICU" in run.stderr:
        print(f"skipped: {run.stderr.decode()}", file=sys.stderr)
        sys.exit(4)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {run.returncode}: {run.stderr.decode()}")
    return [[int(word) for word in line.split()] for line in run.stdout.decode().split("\n")[:-1]], float(run.stderr)


def as_texts(content: str) -> str:
    """Merges as "a b", the older form."""
    tokenizer = json.loads(content)
    merges = tokenizer["model"]["merges"]
    tokenizer["model"]["merges"] = [m if isinstance(m, str) else " ".join(m) for m in merges]
    return json.dumps(tokenizer)


def judge(name: str, tokenizer: tokenizers.Tokenizer, program: str, texts: list[str], folder: pathlib.Path) -> int:
    """Returns the number of texts whose ids differ."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pairs, older = folder / "pairs.json", folder / "texts.json"
    pairs.write_text(tokenizer.to_str())
    older.write_text(as_texts(tokenizer.to_str()))
    given = [t.encode() for t in texts]
    wrong = 0
    for special, file in (("token", pairs), ("token", older), ("text", pairs)):
        tokenizer.encode_special_tokens = special == "text"
        right = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
        ids, _ = encoded(program, file, given, f"special={special}")
        differ = [i for i in range(len(texts)) if ids[i] != right[i]]
        wrong += len(differ)
        for i in differ[:3]:
            at = next((k for k, pair in enumerate(zip(ids[i], right[i])) if pair[0] != pair[1]), 0)
            print(f"  WRONG  {name}: {texts[i]!r}: from token {at} {ids[i][at:at + 9]}, expected {right[i][at:at + 9]}")
    print(f"  {'WRONG' if wrong else 'right'}  {name}: {len(texts)} texts, {wrong} of them differ")
    return wrong


def compare_speed(name: str, tokenizer: tokenizers.Tokenizer, program: str, texts: list[str],
                  folder: pathlib.Path) -> None:
    """In one thread, by turns; the fastest of five."""
    file = folder / "speed.json"
    file.write_text(tokenizer.to_str())
    given = [t.encode() for t in texts]
    size = sum(map(len, given))
    ours, theirs = [], []
    for _ in range(5):
        ours.append(encoded(program, file, given)[1])
        begin = time.perf_counter()
        for one in texts:
            tokenizer.encode(one, add_special_tokens=False)
        theirs.append(time.perf_counter() - begin)
    print(f"{name}: {size / 1e6:.1f} MB; d5 {size / min(ours) / 1e6:.1f} MB/s, "
          f"wheel {size / min(theirs) / 1e6:.1f} MB/s, ratio {min(theirs) / min(ours):.2f}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--speed", type=pathlib.Path, help="measure on this text instead of judging")
    options = parser.parse_args()
    kinds = [(str(f), tokenizers.Tokenizer.from_file(str(f))) for f in options.files] or known_kinds()
    source = random.Random(options.seed)
    texts = [text(source) for _ in range(options.texts)]
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        for name, tokenizer in kinds:
            if options.speed:
                content = options.speed.read_text()
                parts = [content[i:i + 10000] for i in range(0, len(content), 10000)]
                compare_speed(name, tokenizer, options.program, parts, pathlib.Path(place))
            else:
                wrong += judge(name, tokenizer, options.program, texts, pathlib.Path(place))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
