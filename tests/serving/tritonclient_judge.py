#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges `d5 serve` as an inference server: NVIDIA's client (PyPI's tritonclient) asks it over HTTP and gRPC, and
ONNX Runtime says what is right, to the bit.

usage: tritonclient_judge.py D5_PROGRAM [efficientnet-lite0.onnx]
Exit status 4 where tritonclient is not installed.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator

import numpy as np

try:
    import onnx
    import onnxruntime
    import tritonclient.grpc
    import tritonclient.http
    from tritonclient.utils import InferenceServerException
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(4)

FAULTS: list[str] = []
REAL = "efficientnet-lite0"


def check(what: str, holds: bool) -> None:
    print(("  right  " if holds else "  WRONG  ") + what)
    if not holds:
        FAULTS.append(what)


def refused(what: str, *words: str):
    """A call that must be refused, with these words."""

    class Refused:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            said = str(error) if isinstance(error, InferenceServerException) else f"{kind}: {error}"
            check(f"refused: {what}: {said}", kind is InferenceServerException and all(w in said for w in words))
            return True

    return Refused()


def text_model(path: pathlib.Path) -> None:
    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.STRING, ["N"]) for name in ("text", "same")]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["text"], ["same"])], "words", value[:1], value[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9), path)


def photo_model(path: pathlib.Path) -> None:
    value = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
             for name, shape in (("image", ["N", 3, 224, 224]), ("means", ["N", 3, 1, 1]))]
    node = onnx.helper.make_node("GlobalAveragePool", ["image"], ["means"])
    graph = onnx.helper.make_graph([node], "photo", value[:1], value[1:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9), path)


def inputs_of(library, name: str, values: np.ndarray, datatype: str, **how):
    one = library.InferInput(name, list(values.shape), datatype)
    one.set_data_from_numpy(values, **how)
    return [one]


def right_answer(file: pathlib.Path, images: np.ndarray) -> tuple[str, str, np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    name, output = session.get_inputs()[0].name, session.get_outputs()[0].name
    # Each by itself, as it is served: another batch may be summed in another order.
    return name, output, np.concatenate([session.run([output], {name: image[None]})[0] for image in images])


def as_json(library) -> dict:
    return {"as_json": True} if library is tritonclient.grpc else {}


def listed(library, client) -> dict[str, dict[str, str]]:
    index = client.get_model_repository_index(**as_json(library))
    return {one["name"]: one for one in (index["models"] if isinstance(index, dict) else index)}


def judge_model(library, client, model: str, file: pathlib.Path, shape: list[int], hows: list[dict]) -> None:
    images = np.random.default_rng(7).standard_normal([3, *shape]).astype(np.float32)
    name, output, right = right_answer(file, images)
    metadata = client.get_model_metadata(model, **as_json(library))
    told = metadata["inputs"][0]
    check(f"{model}: metadata", told["name"] == name and told["datatype"] == "FP32"
          and [int(size) for size in told["shape"]] == [-1, *shape] and metadata["outputs"][0]["name"] == output)
    check(f"{model}: ready", client.is_model_ready(model))
    check(f"{model}: the list says so", listed(library, client)[model]["state"] == "READY")
    for how in hows:
        wanted = [library.InferRequestedOutput(output, **how)]
        inputs = inputs_of(library, name, images, "FP32", **how)
        answer = client.infer(model, inputs, outputs=wanted, request_id="17").as_numpy(output)
        check(f"{model}: infer {how or ''} is ONNX Runtime's, to the bit", np.array_equal(answer, right))
    judge_extensions(library, client, model, shape, inputs_of(library, name, images, "FP32"), output, right)
    one = inputs_of(library, name, images[:1, :, :-1], "FP32")
    with refused("a wrong shape", "expected"):
        client.infer(model, one)
    with refused("a wrong type", "INT32", "FP32"):
        client.infer(model, inputs_of(library, name, images.astype(np.int32), "INT32"))
    with refused("an unknown input", "unknown", name):
        client.infer(model, inputs_of(library, name + "x", images, "FP32"))
    with refused("an unknown output", "unknown", output):
        client.infer(model, inputs_of(library, name, images, "FP32"), outputs=[library.InferRequestedOutput("none")])
    with refused("an unknown version", "version"):
        client.get_model_metadata(model, "77")


def counts(library, client, model: str) -> dict[str, int]:
    """What the statistics extension has counted of a model."""
    (told,) = client.get_inference_statistics(model, **as_json(library))["model_stats"]
    # gRPC leaves out what is 0, and has texts for whole numbers.
    result = {name: int(told.get(name, 0)) for name in ("inference_count", "execution_count", "last_inference")}
    for name in ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output"):
        result[name] = int(told["inference_stats"][name].get("count", 0))
    result["in batches"] = sum(int(one["compute_infer"]["count"]) * int(one["batch_size"])
                               for one in told.get("batch_stats", []))
    return result


def judge_extensions(library, client, model: str, shape: list[int], inputs: list, output: str,
                     right: np.ndarray) -> None:
    """Triton's extensions: model configuration, statistics, classification."""
    config = client.get_model_config(model, **as_json(library))
    config = config.get("config", config)
    (told,) = config["input"]
    check(f"{model}: config", config["name"] == model and config["max_batch_size"] == 1
          and told["data_type"] == "TYPE_FP32" and [int(size) for size in told["dims"]] == shape)
    before = counts(library, client, model)
    client.infer(model, inputs)
    with refused("a missing input", "is missing"):
        client.infer(model, [])
    after = counts(library, client, model)
    grown = {name: after[name] - before[name] for name in after if name != "last_inference"}
    check(f"{model}: statistics of a request of 3 samples and a refused one: {grown}",
          grown == {"inference_count": 3, "execution_count": 3, "in batches": 3, "success": 1, "fail": 1, "queue": 1,
                    "compute_input": 1, "compute_infer": 1, "compute_output": 1})
    classes = client.infer(model, inputs, outputs=[library.InferRequestedOutput(output, class_count=3)]).as_numpy(output)
    best = np.argsort(-right, axis=1, kind="stable")[:, :3]
    scores = np.array([[np.float32(text.decode().split(":")[0]) for text in row] for row in classes])
    check(f"{model}: classification", [[int(text.decode().split(":")[1]) for text in row] for row in classes]
          == best.tolist() and np.array_equal(scores, np.take_along_axis(right, best, axis=1)))
    with refused("a parameter that d5 does not know", "priority"):
        client.infer(model, inputs, priority=1)


def judge_bodies(client) -> None:
    """Long and packed bodies: over HTTP alone."""
    images = np.random.default_rng(7).random([20, 3, 224, 224]).astype(np.float32)
    for binary in (True, False):
        inputs = inputs_of(tritonclient.http, "image", images, "FP32", binary_data=binary)
        means = client.infer("photo", inputs).as_numpy("means")
        check(f"20 photographs, {'bytes' if binary else 'JSON'}", np.allclose(means[:, :, 0, 0], images.mean((2, 3))))
    with refused("a packed body", "415", "gzip"):
        client.infer("photo", inputs_of(tritonclient.http, "image", images[:1], "FP32"),
                     request_compression_algorithm="gzip")


def judge_metrics(place: str) -> None:
    """Prometheus's own parser reads the metrics."""
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        return print("without prometheus_client (PyPI): nobody parses /metrics")
    with urllib.request.urlopen(f"http://{place}/metrics") as answer:
        check("metrics' type", answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        families = {one.name: one for one in text_string_to_metric_families(answer.read().decode())}
    told = {(sample.name, sample.labels.get("result") or sample.labels.get("le")): sample.value
            for family in families.values() for sample in family.samples if sample.labels["model"] == "lenet"}
    check("metrics: the histogram of latency has the requests that were answered",
          families["d5_inference_request_seconds"].type == "histogram"
          and told["d5_inference_request_seconds_bucket", "+Inf"] == told["d5_inference_requests_total", "success"] > 0)
    check("metrics: the queue is empty", told["d5_inference_waiting_requests", None] == 0)


def judge(library, client, folder: pathlib.Path, hows: list[dict], real: pathlib.Path | None) -> None:
    check("live and ready", client.is_server_live() and client.is_server_ready())
    server = client.get_server_metadata(**as_json(library))
    check(f"server {server['name']} {server['version']}", server["name"] == "d5")
    judge_model(library, client, "lenet", folder / "lenet.onnx", [1, 28, 28], hows)
    words = np.array(["a", "", "ü", "a longer one"], dtype=np.object_)
    for how in hows:
        answer = client.infer("words", inputs_of(library, "text", words, "BYTES", **how),
                              outputs=[library.InferRequestedOutput("same", **how)]).as_numpy("same")
        check(f"texts come back {how or ''}",
              [word if isinstance(word, str) else word.decode() for word in answer] == list(words))
    if real:  # opened when it is asked
        judge_model(library, client, REAL, real, [3, 224, 224], hows)
    with refused("an unknown model", "lenet?"):
        client.get_model_metadata("lenett")


def judge_losses(library, client, state: str) -> None:
    """A model that crashes at every request. `state`: the state that clients see then."""
    image = inputs_of(library, "image", np.zeros([1, 1, 28, 28], np.float32), "FP32")
    check("a model is ready that was not asked", client.is_model_ready("lenet"))
    for _ in range(3):
        with refused("a model that crashes", "SIGSEGV"):
            client.infer("lenet", image)
    states = []
    for _ in range(4):  # it may be begun again meanwhile; the wait for that doubles
        try:
            client.infer("lenet", image)
        except InferenceServerException as error:
            states.append(error.status())
        is_ready, told = client.is_model_ready("lenet"), listed(library, client)["lenet"]
        if not is_ready and told["state"] != "READY":
            break
    check(f"one that crashes again and again answers {states}", set(states) == {state})
    check("it is not ready", not is_ready)
    check(f"the list says why: {told}", told["state"] == "UNAVAILABLE" and "SIGSEGV" in told["reason"])
    check("the server is", client.is_server_live() and client.is_server_ready())


@contextlib.contextmanager
def served(program: str, folder: pathlib.Path, *words: str) -> Iterator[tuple[str, str]]:
    """A server's places over HTTP and gRPC."""
    command = [program, "serve", "--bind", "127.0.0.1:0", "--inference-grpc", "0", "--database", str(folder / "r.db"),
               "--threads", "1", *words]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        lines = [server.stdout.readline().strip() for _ in range(3)]  # itself, for agents, for inference
        places = dict(re.findall(r"(http|grpc)://(\S+)", " ".join(lines)))
        if places.keys() != {"http", "grpc"}:
            sys.exit(f"the server did not begin: it said {lines}")
        yield places["http"], places["grpc"]
    finally:
        server.terminate()
        server.wait(timeout=30)
    check(f"the server ended in order: {server.returncode}", server.returncode in (0, 128 + signal.SIGTERM))


def main() -> int:
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        subprocess.run([program, "net", "save", "lenet", str(folder / "lenet.onnx")], check=True, stdout=subprocess.DEVNULL)
        text_model(folder / "words.onnx")
        photo_model(folder / "photo.onnx")
        real = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and os.path.exists(sys.argv[2]) else None
        if not real:
            print(f"without {REAL}: scripts/models {REAL} makes it")
        with served(program, folder, "--model", ",".join(f"{folder / name}.onnx" for name in ("lenet", "words", "photo")),
                    "--framework", "onnxruntime:session") as (http, grpc):
            print("HTTP")
            judge(tritonclient.http, tritonclient.http.InferenceServerClient(http), folder,
                  [{"binary_data": True}, {"binary_data": False}], real)
            judge_bodies(tritonclient.http.InferenceServerClient(http))
            judge_metrics(http)
            print("gRPC")
            judge(tritonclient.grpc, tritonclient.grpc.InferenceServerClient(grpc), folder, [{}], real)
        for library, way, state in ((tritonclient.http, 0, "503"), (tritonclient.grpc, 1, "StatusCode.UNAVAILABLE")):
            with served(program, folder, "--model", "lenet", "--framework", "faulty:how=crash:after=1") as places:
                judge_losses(library, library.InferenceServerClient(places[way]), state)
    print(f"{len(FAULTS)} wrong" if FAULTS else "all right")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
