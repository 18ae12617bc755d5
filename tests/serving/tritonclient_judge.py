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


def listed(library, client) -> dict[str, dict[str, str]]:
    index = client.get_model_repository_index(**({"as_json": True} if library is tritonclient.grpc else {}))
    return {one["name"]: one for one in (index["models"] if isinstance(index, dict) else index)}


def judge_model(library, client, model: str, file: pathlib.Path, shape: list[int], hows: list[dict]) -> None:
    images = np.random.default_rng(7).standard_normal([3, *shape]).astype(np.float32)
    name, output, right = right_answer(file, images)
    metadata = client.get_model_metadata(model, **({"as_json": True} if library is tritonclient.grpc else {}))
    told = metadata["inputs"][0]
    check(f"{model}: metadata", told["name"] == name and told["datatype"] == "FP32"
          and [int(size) for size in told["shape"]] == [-1, *shape] and metadata["outputs"][0]["name"] == output)
    check(f"{model}: ready", client.is_model_ready(model))
    check(f"{model}: the list says so", listed(library, client)[model]["state"] == "READY")
    for how in hows:
        wanted = [library.InferRequestedOutput(output, **how)]
        count = 1 if how.get("binary_data") is False else 3  # three photographs as JSON exceed 8 MiB
        inputs = inputs_of(library, name, images[:count], "FP32", **how)
        answer = client.infer(model, inputs, outputs=wanted, request_id="17").as_numpy(output)
        check(f"{model}: infer {how or ''} is ONNX Runtime's, to the bit", np.array_equal(answer, right[:count]))
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


def judge(library, client, folder: pathlib.Path, hows: list[dict], real: pathlib.Path | None) -> None:
    check("live and ready", client.is_server_live() and client.is_server_ready())
    server = client.get_server_metadata(**({"as_json": True} if library is tritonclient.grpc else {}))
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
        real = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 and os.path.exists(sys.argv[2]) else None
        if not real:
            print(f"without {REAL}: scripts/models {REAL} makes it")
        with served(program, folder, "--model", f"{folder / 'lenet.onnx'},{folder / 'words.onnx'}", "--framework",
                    "onnxruntime:session") as (http, grpc):
            print("HTTP")
            judge(tritonclient.http, tritonclient.http.InferenceServerClient(http), folder,
                  [{"binary_data": True}, {"binary_data": False}], real)
            print("gRPC")
            judge(tritonclient.grpc, tritonclient.grpc.InferenceServerClient(grpc), folder, [{}], real)
        for library, way, state in ((tritonclient.http, 0, "503"), (tritonclient.grpc, 1, "StatusCode.UNAVAILABLE")):
            with served(program, folder, "--model", "lenet", "--framework", "faulty:how=crash:after=1") as places:
                judge_losses(library, library.InferenceServerClient(places[way]), state)
    print(f"{len(FAULTS)} wrong" if FAULTS else "all right")
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
