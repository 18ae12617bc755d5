# SPDX-License-Identifier: Apache-2.0
"""Walks the options of `d5 train` under every scheme of ranks, on two of them.

    python3 train_walk.py PROGRAM                    a covering selection
    python3 train_walk.py PROGRAM --whole            every option under every scheme and choice
    python3 train_walk.py PROGRAM --whole --only hogwild --option save

Each run has a time limit. It passes if it ends with status 0 and without an unexpected error, has
written what was asked for, and has learnt what the scheme learns without the option, where that
changes nothing. A refusal in words passes where it stands in REFUSED, and only there.

Judges from outside: NumPy (what --save wrote is the mean of the ranks' checkpoints) and ONNX's own
checker. Schemes, their choices and the choices of those are what the program lists, so a new one is
walked without a word here.
"""

import argparse
import csv
import functools
import itertools
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 60  # seconds that a run may take on a busy machine: it needs less than one

RECIPE = """name: walk
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 48, test_samples: 10}
  model: {name: mlp, width: 8}
mutable:
  sampler: {batch_size: 8}
  optimizer: {name: RULE, learning_rate: 0.01MODIFIERS}
  training: {epochs: 2, seed: 3, test_batch_size: 3TRAINING}
  distributed: {name: SCHEME}
  metrics: {test_loss: {}METRICS}
acceptable:
  test_accuracy: {at_least: 0}
ranges:
  optimizer.learning_rate: {least: 0.01, most: 0.02}
"""

# Ranks do not wait for each other: each run learns something else.
TIMED = ("hogwild", "asynchronous_neighbors", "inconsistent_centralized", "stale_synchronous")
# A rank has a part of the network.
PARTED = ("pipeline", "tensor_parallel")
# The kinds of `d5 list` by the type of an option.
LISTS = {
    "all-reduce": "all-reduces",
    "gradient exchange": "exchanges",
    "gradient compressor": "compressors",
    "sparse all-reduce": "sparse-all-reduces",
    "topology": "topologies",
    "pipeline schedule": "pipeline-schedules",
}


class Case:
    """Options, changes of the recipe, and what is to be there afterwards.

    `same`: what is learnt is what is learnt without. `then`: what is judged besides. `status`: as
    one rank ends.
    """

    def __init__(self, name, words="", files=(), same=True, then=None, status=0, **recipe):
        self.name, self.words, self.files, self.status = name, words, files, status
        self.same, self.then, self.recipe = same, then, recipe


def modifier(name, words):
    return Case(name, "--save DIR/net.onnx", ["net.onnx"], False, MODIFIERS=f", modifiers: [{words}]")


CASES = [
    Case("save", "--save DIR/net.onnx", ["net.onnx"]),
    Case("save-checkpoint", "--save DIR/net.onnx --checkpoint DIR/ck", ["net.onnx", "ck"], then="mean"),
    Case("resume", "--checkpoint DIR/ck --checkpoint-every 2 --keep 9", ["ck"], then="resume"),
    Case("interrupt", "--checkpoint DIR/ck --checkpoint-every 1 --save DIR/net.onnx", ["ck", "net.onnx"],
         False, then="interrupt", status=130, EPOCHS="1000000, test_every: 1000000, most_batches: 0"),
    Case("check-ranks", "--check-ranks 2"),
    Case("check-calls", "--check-calls"),
    Case("trace", "--trace DIR/trace.json", ["trace.json"]),
    Case("metrics", "--metrics communication_time,top_k_accuracy:k=2,perplexity,latency_p90,throughput"),
    Case("metrics-of-ranks", "--metrics own_test_accuracy,exposed_time,idle_time,pipeline_bubble"),
    Case("metrics-of-data", "--metrics dataset_bias,batch_making_time,dataset_latency,peak_memory"),
    Case("framework-overhead", "--metrics framework_overhead"),
    Case("gradient-norm", "--metrics gradient_norm"),
    Case("time-to-accuracy", "--metrics time_to_accuracy:target=0.01"),
    Case("not-reached", "--metrics time_to_accuracy:target=1", status=1),
    Case("repeat", "--repeat 2", same=False),
    Case("repeat-trace", "--repeat 2 --trace DIR/trace.json", ["trace.json"], same=False),
    Case("vary", "--vary optimizer.learning_rate=0.01,0.02", same=False),
    Case("trials", "--trials 2", same=False),
    Case("pictures", "--pictures DIR/pictures", same=False),
    Case("make-reference", "--make-reference", same=False, RULE="adam",
         METRICS=", samples_to_accuracy: {target: 0.01}"),
    Case("init", "--init INIT", same=False),
    Case("loader-threads", "--loader-threads 2"),
    Case("weak", "--scaling weak", same=False),
    Case("wire", "--wire 1us,10GB/s"),
    Case("timeout", "--timeout 30s"),
    Case("progress", "--progress thread"),
    Case("mpi-bytes", "--mpi-bytes"),
    Case("dry-run", "--dry-run", same=False),
    Case("memory", "--memory 64MiB"),
    Case("recompute", "--recompute auto --memory 64MiB"),
    Case("threads", "--threads 1"),
    Case("seed", "--seed 5", same=False),
    Case("delay", "--fault delay:rank=1,step=2,seconds=0.01"),
    Case("format", "--format json"),
    Case("database", "--database DIR/runs.db", ["runs.db"]),
    Case("two-frameworks", "--framework reference,onednn+reference", same=False),
    Case("place", "--place Relu=reference"),
    modifier("accumulate", "{name: accumulate, pieces: 2}"),
    modifier("clip-norm", "{name: clip_norm, most: 0.5}"),
    modifier("clip-value", "{name: clip_value, most: 0.01}"),
    modifier("ema", "{name: ema}"),
    modifier("swa", "{name: swa}"),
    modifier("lookahead", "{name: lookahead}"),
    modifier("evolution", "{name: evolution}"),
    modifier("clip-tensor-norm", "{name: clip_tensor_norm, most: 1}"),
    modifier("sam", "{name: sam}"),
    Case("bfloat16", "--save DIR/net.onnx", ["net.onnx"], False, TRAINING=", precision: bfloat16"),
    Case("float16", same=False, TRAINING=", precision: float16", MODIFIERS=", modifiers: [{name: loss_scale}]"),
    Case("test-every", same=False, TRAINING=", test_every: 2"),
    Case("most-batches", "--save DIR/net.onnx --checkpoint DIR/ck", ["net.onnx", "ck"], False,
         TRAINING=", most_batches: 4"),
    Case("no-epoch", "--save DIR/net.onnx", ["net.onnx"], False, status=1, EPOCHS="0"),
    Case("whole-tests", "--set distributed.test_samples=whole"),
    Case("whole-samples", "--set distributed.samples=whole", same=False),
    Case("momentum", "--save DIR/net.onnx", ["net.onnx"], False, RULE="momentum"),
    Case("adam", "--save DIR/net.onnx", ["net.onnx"], False, RULE="adam"),
    Case("schedule-free", "--save DIR/net.onnx", ["net.onnx"], False, RULE="schedule_free_sgd"),
    Case("lbfgs", same=False, RULE="lbfgs"),
]
# Files and observers together, where one start is to be enough.
TOGETHER = Case("together", "--save DIR/net.onnx --checkpoint DIR/ck --checkpoint-every 2 --trace DIR/trace.json "
                "--metrics communication_time,top_k_accuracy:k=2 --check-calls --loader-threads 2 --timeout 50s",
                ["net.onnx", "ck", "trace.json"], then="mean")
# Unsupported combinations by scheme and option (regular expressions), and words of the message.
REFUSED = [
    ("(?!consistent_.*centralized|hogwild).*", "lbfgs", "choose"),
    ("hogwild", "wire|delay", "no wire is modelled and no fault is injected"),
    ("(?!consistent_.*centralized).*", "check-ranks", "the ranks' parameters differ between steps"),
    ("consistent_centralized|inconsistent_centralized", "gradient-norm", "the servers of this scheme have the gradients"),
    ("consistent_centralized|pipeline|tensor_parallel", "evolution", "evolution"),
    ("(?!consistent_|.*_centralized|hogwild|stale|pipeline|tensor).*|consistent_neighbors",
     "schedule-free|lookahead", "other"),
    (".*exchange=compressed:exchange.compressor=sign", ".*", "set error_feedback: false"),
    (".*one_bit_adam:exchange.compressor=(bfloat16|float16|power_sgd|random_k|sign|terngrad)", ".*",
     "does not gather messages that each rank adds"),
    ("d2", "momentum|adam|make-reference", "defined for plain gradient descent"),
    ("pipeline|tensor_parallel", "sam", "all gradients on each rank"),
    ("tensor_parallel", "bfloat16|float16", "no two linear layers"),
    ("tensor_parallel", "clip-tensor-norm", "but a rank has only parts"),
]


def listed(program, *words):
    run = subprocess.run([program, "list", *words, "--format", "csv"], capture_output=True, text=True,
                         timeout=LIMIT, check=True)
    return list(csv.DictReader(run.stdout.splitlines()))


def schemes(program):
    """Every scheme of d5's own, and each with every choice that one of its options has."""
    names = functools.cache(lambda kind: [row["name"] for row in listed(program, kind)])
    result = []

    def add(base, option, kind, rows):
        for value in names(kind):
            if value in ("file", option["default"]):
                continue
            chosen = f"{base}:{option['option']}={value}"
            result.append(chosen)
            for inner in listed(program, kind, value) if rows else []:
                if inner["type"] not in LISTS or inner["type"] == option["type"]:
                    continue
                for choice in names(LISTS[inner["type"]]):
                    if choice != inner["default"]:
                        result.append(f"{chosen}:{option['option']}.{inner['option']}={choice}")

    for scheme in names("distributed-optimizers"):
        if "/" in scheme:
            continue  # frameworks may be left out of a build
        result.append(scheme)
        for option in listed(program, "distributed-optimizers", scheme):
            if option["type"] in LISTS:
                add(scheme, option, LISTS[option["type"]], option["option"] == "exchange")
    return result


class Walk:
    """Runs, each in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder, self.runs, self.seconds = program, Path(folder), 0, LIMIT
        self.launcher = ["mpirun", "--oversubscribe", "-np", "2"]
        self.base = functools.cache(self.train_plain)

    def begin(self):
        """What --init reads: a network of one rank."""
        place, command = self.prepare("consistent_decentralized", Case("", "--save INIT"))
        status, output = limited(command[len(self.launcher):], self.seconds)
        if status != 0:
            raise SystemExit(f"one rank does not train: {output}")

    def prepare(self, scheme, case):
        self.runs += 1
        place = self.folder / str(self.runs)
        place.mkdir()
        name, *settings = re.split(r":(?=[\w.]+=)", scheme)
        fills = {"SCHEME": ", ".join([name, *(part.replace("=", ": ", 1) for part in settings)]),
                 "RULE": "frozen_adam" if "one_bit_adam" in scheme else "sgd", "MODIFIERS": "", "TRAINING": "", "METRICS": ""}
        fills.update({key: value for key, value in case.recipe.items() if key in fills})
        text = RECIPE
        for key, value in fills.items():
            text = text.replace(key, value)
        if "EPOCHS" in case.recipe:
            text = text.replace("epochs: 2", "epochs: " + case.recipe["EPOCHS"])
        (place / "walk.yaml").write_text(text)
        return place, self.command(place, case.words)

    def command(self, place, words):
        words = words.replace("DIR", str(place)).replace("INIT", str(self.folder / "init.onnx"))
        out = [] if "--dry-run" in words else ["--out", str(place / "out.json")]
        return [*self.launcher, self.program, "train", str(place / "walk.yaml"), "--quiet", *out, *words.split()]

    def train_plain(self, scheme):
        place, command = self.prepare(scheme, Case(""))
        status, output = limited(command, self.seconds)
        return status, output, learnt(place)


def limited(command, seconds, until=None):
    """(status, output), of a run that gets Ctrl-C when `until` says so; status None where the time
    passed. All that it started is ended."""
    with tempfile.TemporaryFile("w+") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        deadline, interrupted = time.monotonic() + seconds, until is None
        while process.poll() is None and time.monotonic() < deadline:
            if not interrupted and until():
                process.send_signal(signal.SIGUSR1)  # which mpirun passes on, as d5's --ranks does Ctrl-C
                interrupted = True
            time.sleep(0.02)
        status = process.poll()
        if status is None:
            process.terminate()  # mpirun ends its ranks, which are in groups of their own
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        file.seek(0)
        return status, file.read()


def learnt(place):
    """Samples of the metrics that no clock decides, by metric and rank."""
    path = place / "out.json"
    if not path.exists():
        return {}
    return {f"{one['metric']} {one.get('conditions', {}).get('rank', '')}": one["samples"]
            for one in json.loads(path.read_text())["measurements"]
            if one["metric"] in ("loss", "test_accuracy", "test_loss", "training_accuracy")}


def safetensors(path):
    """Header and tensors of float32, by name."""
    import numpy

    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            tensors[name] = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return header["__metadata__"], tensors


def saved_network(place):
    import onnx
    import onnx.numpy_helper

    model = onnx.load(place / "net.onnx")
    onnx.checker.check_model(model, full_check=True)
    return {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}


def differs_from_mean(place):
    """Says where the saved network is not the mean of the ranks' last checkpoints, or their center
    under elastic averaging, a vector of all parameters with zeros between."""
    import numpy

    parts = [safetensors(file)[1] for file in (place / "ck", place / "ck.rank-1") if file.exists()]
    saved = saved_network(place)
    if (center := parts[0].get("optimizer/scheme/center")) is not None:
        values = numpy.concatenate([value.ravel() for value in saved.values()])
        alike = numpy.array_equal(numpy.sort(values[values != 0]), numpy.sort(center[center != 0]))
        return "" if alike else "--save has another network than the ranks' center"
    for name, value in saved.items():
        mine = [part[f"parameter/{name}"].astype(numpy.float64) for part in parts]
        # A float32 mean of two numbers has a rounding error.
        if not numpy.allclose(value, sum(mine) / len(mine), rtol=2e-7, atol=1e-10):
            return f"--save has another '{name}' than the mean of the ranks' checkpoints"
    return ""


BROKEN = re.compile(r"unexpected:|Assertion|terminate called|Segmentation|signal (4|6|7|8|11)\b|takes \d{12}|"
                    r"gather_records:|records of a rank|MPI_ERR|stack smashing|corrupt|waiting for", re.M)


class Refused(str):
    """Not a fault, if it is expected."""


def said_error(output):
    found = re.search(r"error: (.*)", output)
    return found.group(1).strip() if found else ""


def judge(walk, scheme, case, status, output, place):
    """What is wrong; nothing where all is well."""
    if status is None:
        return f"HANGS: {walk.seconds} s passed {said_error(output)}"
    if broken := BROKEN.search(output):
        return f"says '{broken.group(0)}': {said_error(output)}"
    if status != case.status:
        return Refused(said_error(output)) if said_error(output) else f"status {status}, not {case.status}, without a word"
    for file in case.files:
        if not (place / file).exists():
            return f"has not written {file}"
    if "net.onnx" in case.files:
        saved_network(place)
    if not case.same or scheme.startswith(TIMED):
        return ""
    before, after = walk.base(scheme)[2], learnt(place)
    for key in before:
        if before[key] != after.get(key):
            return f"learns otherwise than without it: {key}: {before[key]} and {after.get(key)}"
    return ""


def judge_resumed(walk, scheme, case, place):
    """Goes on from a checkpoint in the middle, as if it had been the last."""
    whole = learnt(place)
    steps = [int(file.name.rsplit("-", 1)[1]) for file in place.glob("ck.step-*")]
    middle = sorted(steps)[len(steps) // 2]
    for name in ("ck", "ck.rank-1"):
        if (place / f"{name}.step-{middle}").exists():
            (place / f"{name}.step-{middle}").replace(place / name)
        for file in place.glob(f"{name}.step-*"):
            file.unlink()
    status, output = limited(walk.command(place, case.words + " --resume"), walk.seconds)
    if status != 0:
        return f"cannot be resumed: {'HANGS' if status is None else said_error(output) or status}"
    if scheme.startswith(TIMED) or whole == learnt(place):
        return ""
    return f"resumed from step {middle} it learns {learnt(place)}, not {whole}"


def judge_interrupted(walk, scheme, case, place):
    """What was measured is written, and two steps more are those of a run that nobody interrupted."""
    records = json.loads((place / "out.json").read_text())["measurements"]
    if any(one["status"] not in ("mistrusted", "skipped") for one in records):
        return f"interrupted, and nobody doubts it: {[(one['metric'], one['status']) for one in records]}"
    steps = int(safetensors(place / "ck")[0]["step"])
    limit = f" --set training.most_batches={steps + 2}"
    status, output = limited(walk.command(place, case.words + " --resume" + limit), walk.seconds)
    if status != 0:
        return f"interrupted it cannot be resumed: {'HANGS' if status is None else said_error(output) or status}"
    resumed = learnt(place)
    straight, command = walk.prepare(scheme, Case("", limit.strip(), **case.recipe))
    status, output = limited(command, walk.seconds)
    if status != 0 or scheme.startswith(TIMED) or resumed == learnt(straight):
        return ""
    return f"interrupted at step {steps} and resumed it learns {resumed}, not {learnt(straight)}"


def covering(every):
    """Each scheme with all files and observers, and interrupted; each choice with them; each option
    under one of the schemes."""
    plain = [scheme for scheme in every if ":" not in scheme]
    interrupt = next(case for case in CASES if case.then == "interrupt")
    pairs = [(scheme, case) for scheme in plain for case in (TOGETHER, interrupt)]
    apart = Case("together", TOGETHER.words, TOGETHER.files, False, "mean")  # spares a run without
    pairs += [(scheme, apart) for scheme in every if ":" in scheme]
    pairs += [(plain[i % len(plain)], case) for i, case in enumerate(CASES) if case is not interrupt]
    return pairs


def refusal(scheme, case):
    """The words that are expected, where it is refused."""
    for schemes_, cases, words in REFUSED:
        alike = re.fullmatch(schemes_, scheme) or re.fullmatch(schemes_, scheme.split(":")[0])
        if alike and re.fullmatch(cases, case.name):
            return words
    return ""


def walk_one(walk, scheme, case):
    place, command = walk.prepare(scheme, case)
    until = None
    if case.then == "interrupt":
        until = lambda: list(place.glob("ck.step-*"))
    status, output = limited(command, walk.seconds, until)
    wrong = judge(walk, scheme, case, status, output, place)
    if wrong:
        return wrong, output
    if case.then == "mean" and not scheme.startswith(PARTED + TIMED):
        return differs_from_mean(place), output
    if case.then == "resume":
        return judge_resumed(walk, scheme, case, place), output
    if case.then == "interrupt":
        return judge_interrupted(walk, scheme, case, place), output
    return "", output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--option", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--verbose", action="store_true", help="what a failed run printed")
    parser.add_argument("--limit", type=int, default=LIMIT)
    arguments = parser.parse_args()
    try:
        import numpy  # noqa: F401
        import onnx  # noqa: F401
    except ImportError as error:
        print(f"skipped: the judges are not there: {error}")
        return 4
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(arguments.program, folder)
        walk.seconds = arguments.limit
        walk.begin()
        every = schemes(arguments.program)
        pairs = list(itertools.product(every, CASES)) if arguments.whole else covering(every)
        pairs = [(s, c) for s, c in pairs if re.search(arguments.only, s) and re.search(arguments.option, c.name)]
        part, parts = map(int, arguments.part.split("/"))
        own = set(every[part - 1::parts])  # a scheme is walked in one part: its run without options is made once
        pairs = [pair for pair in pairs if pair[0] in own]
        failed = refused = 0
        begin = time.time()
        for scheme, case in pairs:
            wrong, output = walk_one(walk, scheme, case)
            expected = refusal(scheme, case)
            if isinstance(wrong, Refused) and expected and expected in wrong:
                refused += 1
            elif wrong or expected:
                failed += 1
                wrong = wrong or f"was refused with '{expected}', and is no longer"
                print(f"FAILED {scheme} {case.name}: {wrong}", flush=True)
                if arguments.verbose:
                    print(output)
        used = os.times()
        print(f"{len(pairs)} walked, {failed} failed, {refused} refused, {time.time() - begin:.0f} s, "
              f"{used.children_user + used.children_system:.0f} s of processors")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
