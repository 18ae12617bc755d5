#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves what a user of the Python package relies on, on one that is installed from a build: what a wheel
holds, but for the processor that it was compiled for.

usage: check_package.py SOURCE_DIR BUILD_DIR WORK_DIR CMAKE
Prints each breach; exit status 1 if there is any, 4 if there is none but a tool is not installed.
"""

from __future__ import annotations

import email
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator

SOURCE, BUILD, WORK = (pathlib.Path(folder).resolve() for folder in sys.argv[1:4])
CMAKE = sys.argv[4]
PACKAGE = WORK / "d5"

# What a user writes, with every hint that strict checking asks for.
USER = '''
import pathlib

import numpy
import numpy.typing

import d5


@d5.operator("Cube", domain="org.example")
class Cube(d5.Operator):
    def forward(self, context: d5.OpContext) -> None:
        context.output(0).numpy()[...] = context.input(0).numpy() ** 3


class Relu(d5.Kernel):
    def __init__(self, plan: d5.PlanContext) -> None:
        if plan.dtype(0) != "float32" or len(plan.shape(0)) > 2:
            raise d5.Unsupported(plan.node.op_type)

    def forward(self, inputs: list[d5.Tensor]) -> numpy.typing.NDArray[numpy.float32]:
        result: numpy.typing.NDArray[numpy.float32] = numpy.maximum(inputs[0].numpy(), numpy.float32(0))
        return result


@d5.register
class NumPy(d5.Framework):
    name = "numpy"
    version = numpy.__version__
    kernels = {"Relu": Relu}


class Stop(d5.Event):
    def wants_stop(self) -> bool:
        return True


def accuracy(folder: pathlib.Path) -> float:
    mnist = d5.dataset("mnist", data=folder)
    network: d5.Network = d5.model("lenet", with_loss=True, seed=1)
    network.save(folder / "lenet.onnx")
    executor = d5.executor(network, ["torch", "reference"])
    optimizer = d5.optimizer("momentum", executor, learning_rate=0.05)
    train = d5.sampler("shuffle", mnist.train, batch_size=64)
    metric = d5.training_metric("test_accuracy")
    trainer = d5.Trainer(optimizer, train, epochs=2, checkpoint=folder / "run")
    trainer.add_event(metric)
    trainer.add_event(Stop())
    trainer.run()
    image = numpy.zeros((1, 1, 28, 28), numpy.float32)
    outputs = executor.inference({"image": image})
    print(outputs["logits"].numpy().sum(), d5.Tensor(image).shape[0])
    rows: d5.Measurements = d5.bench("Relu 2x3", frameworks=["reference"])
    print(rows, [row.median for row in rows if row.status == "passed"])
    results, accepted = d5.train("mnist-lenet", set=["training.epochs=1"])
    return metric.value if accepted else results[0].value
'''

WRONG = {
    "d5.modle('lenet')": 'has no attribute "modle"',
    "d5.model(3)": 'incompatible type "int"',
    "d5.register(3)": 'matches argument type "int"',
    "d5.bench('Relu 2x3')[0].medain": 'has no attribute "medain"',
}


def run(*command: str | pathlib.Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(WORK), "MYPYPATH": str(WORK), **more}
    environment.pop("D5_DATA_DIR", None)  # the package carries data of its own
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          cwd=WORK, env=environment)


def install() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for component in ([], ["--component", "python"]):
        done = run(CMAKE, "--install", BUILD, "--prefix", PACKAGE, *component)
        if done.returncode != 0:
            sys.exit(f"installing failed: {done.stderr}")


def files() -> Iterator[str]:
    """Types are there, each library once, and nothing that names the folders of the build."""
    for needed in ("py.typed", "_d5.pyi", "__main__.py", "bin/d5", "share/d5/LICENSE", "share/d5/NOTICE"):
        if not (PACKAGE / needed).exists():
            yield f"{needed} is not installed"
    present: dict[str, pathlib.Path] = {}
    for file in sorted(PACKAGE.rglob("*")):
        if file.is_symlink() or not file.is_file() or "__pycache__" in file.parts:
            continue
        content = file.read_bytes()
        for folder in (SOURCE, BUILD):
            if str(folder).encode() in content:
                yield f"{file}: names {folder}"
        if ".so" in file.name:
            other = present.setdefault(hashlib.sha256(content).hexdigest(), file)
            if other != file:
                yield f"{file}: is {other} once more"


def program() -> Iterator[str]:
    """`python -m d5` is the program, and what d5 carries is found where it was installed."""
    version = run(sys.executable, "-m", "d5", "--version")
    if version.returncode != 0 or "d5" not in version.stdout:
        yield f"python -m d5 --version: {version.returncode} {version.stdout}{version.stderr}"
    bad = run(sys.executable, "-m", "d5", "nothing")
    if bad.returncode != 2:
        yield f"python -m d5 nothing: exit status {bad.returncode}, expected 2"
    script = "import d5; print(len(d5.dataset('mnist').test), d5.recipe('mnist-lenet').name, d5.__file__)"
    used = run(sys.executable, "-c", script)
    if used.stdout.split() != ["1000", "mnist-lenet", str(PACKAGE / "__init__.py")]:
        yield f"{script}: {used.stdout}{used.stderr}"


WITHOUT_LIBRARIES = """
import sys, d5
network = d5.model("lenet")
for name in sys.argv[1:]:
    try:
        print(d5.executor(network, [name]))
    except d5.Unsupported as error:
        print(error)
rows = d5.bench("Relu 2x3", frameworks=["reference"], samples=3)
print(*{row.status for row in rows})
"""


def frameworks_absent() -> Iterator[str]:
    """Without the libraries that plug-ins were linked with, d5 does the rest, and says what they need."""
    hidden = WORK / "hidden"
    hidden.mkdir()
    needs = {file.stem.removeprefix("d5_framework_"): file for file in (PACKAGE / "lib/d5").glob("*.needs")}
    for file in needs.values():
        own = str(PACKAGE), "/lib/", "/usr/lib/", "not found"
        linked = [line.split(" => ") for line in run("ldd", file.with_suffix(".so")).stdout.splitlines()]
        # These come with the system, and are missing on another.
        for name in (
            words[0].strip()
            for words in linked
            if len(words) == 2 and (not words[1].startswith(own) or words[0].strip().startswith(("libmpi", "libsimgrid")))
        ):
            (hidden / name).touch()  # found first, and no library
    used = run(sys.executable, "-c", WITHOUT_LIBRARIES, *needs, LD_LIBRARY_PATH=str(hidden))
    said = used.stdout.splitlines()
    for (name, file), line in zip(needs.items(), said):
        if f"cannot be loaded: {hidden}" not in line or f"it needs {file.read_text().strip()}" not in line:
            yield f"without the libraries of {name}: {line}"
    if used.returncode != 0 or len(said) != len(needs) + 1 or not set(said[-1].split()) <= {"passed", "mistrusted"}:
        yield f"without the libraries of {', '.join(needs)}: {used.stdout}{used.stderr}"


def mypy(*arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    """What it found of files that did not change is kept beside WORK; by their digests, for an installation is new."""
    kept = ("--cache-dir", WORK.parent / "mypy_cache")
    return run(sys.executable, "-m", "mypy", "--strict", "--scripts-are-modules", *kept, *arguments)


def types() -> Iterator[str]:
    """A user's file passes mypy --strict; what is wrong in one does not."""
    user, wrong = WORK / "user.py", WORK / "wrong.py"
    user.write_text(USER)
    done = mypy(user)
    if done.returncode != 0:
        yield done.stdout + done.stderr
    wrong.write_text("import d5\n" + "".join(f"{line}\n" for line in WRONG))
    found = mypy(wrong).stdout.splitlines()
    for number, (line, message) in enumerate(WRONG.items(), 2):
        if not any(f"wrong.py:{number}:" in said and message in said for said in found):
            yield f"{line}: expected '{message}' among:\n" + "\n".join(found)


# Tests say no types of their own, whose callbacks are all kinds of wrong; what they call is checked as a user's calls are.
OF_TESTS = """
[mypy-{}]
disallow_untyped_defs = False
disallow_incomplete_defs = False
disallow_untyped_calls = False
disallow_any_generics = False
disable_error_code = override, union-attr, var-annotated, comparison-overlap
"""


def own_types() -> Iterator[str]:
    """mypy --strict passes on d5's own Python, its tests included."""
    tests = sorted((SOURCE / "python/tests").rglob("*.py"))
    config = WORK / "mypy.ini"
    config.write_text("[mypy]\nstrict = True\n" + "".join(OF_TESTS.format(f.stem) for f in tests))
    scripts = [f for f in (SOURCE / "scripts").iterdir() if b"python3" in f.read_bytes()[:40]]
    folders = ["examples", "examples/notebooks", "tests/house", "python"]
    if importlib.util.find_spec("jax"):
        folders.append("examples/107_jax_framework")
    others = [*scripts, *(f for folder in folders for f in sorted((SOURCE / folder).glob("*.py")))]
    for done in (mypy("-p", "d5"), mypy("--config-file", config, *others, *tests)):
        if done.returncode != 0:
            yield done.stdout + done.stderr


def names_of_before() -> Iterator[str]:
    """What others import of 0.1.0 is still there, or the change log says what to write instead."""
    names = (SOURCE / "tests/house/before/module_names.txt").read_text().split()
    script = "import d5, sys; print(*(name for name in sys.argv[1:] if not hasattr(d5, name)))"
    done = run(sys.executable, "-c", script, *names)
    changes = (SOURCE / "CHANGELOG.md").read_text()
    yield from (f"d5.{name} is gone, and CHANGELOG.md does not say so" for name in done.stdout.split()
                if f"d5.{name}" not in changes)
    if done.returncode != 0:
        yield done.stderr


def built(what: str) -> str:
    """The file or folder in WORK that `what` of the wheel's builder makes there."""
    script = f"import scikit_build_core.build as b, sys; print(b.{what}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", script, WORK], cwd=SOURCE, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{what}: {done.stderr}")
    return done.stdout.split()[-1]


def metadata() -> Iterator[str]:
    """What a wheel says of itself, to those who have nothing beside it."""
    folder = WORK / built("prepare_metadata_for_build_wheel")
    about = email.message_from_string((folder / "METADATA").read_text())
    version = re.search('D5_VERSION "(.+)"', (SOURCE / "include/d5/version.hpp").read_text())
    expected = {"Version": version and version[1], "Requires-Python": ">=3.10", "Requires-Dist": "numpy>=1.24",
                "License-Expression": "Apache-2.0 AND CC-BY-SA-3.0", "Description-Content-Type": "text/markdown"}
    yield from (f"METADATA: {key} is {about[key]}, expected {value}" for key, value in expected.items()
                if about[key] != value)
    if about.get_all("License-File") != ["LICENSE", "NOTICE"]:
        yield f"METADATA: licences are {about.get_all('License-File')}"
    if not about["Project-URL"]:
        yield "METADATA: no Project-URL"
    text = about.get_payload()
    if not isinstance(text, str) or not text.startswith("# d5\n"):
        yield "METADATA: the description is not README.md"
    # Beside it nothing lies that a link, or a picture, could mean.
    yield from (f"METADATA: the description links to {link}" for link in re.findall(r"\]\(([^)]*)\)", str(text))
                if not link.startswith("https://"))
    if "d5 = d5.__main__:main" not in (folder / "entry_points.txt").read_text():
        yield "entry_points.txt lacks the program"


def source_archive() -> Iterator[str]:
    """It holds what git has or would add, no more and no less."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                            capture_output=True, text=True)
    if listed.returncode != 0:  # this is an archive itself
        return
    wanted = {name for name in listed.stdout.splitlines() if (SOURCE / name).exists()}
    held = {name.partition("/")[2] for name in tarfile.open(WORK / built("build_sdist")).getnames()} - {"PKG-INFO"}
    yield from (f"the source archive holds {name}, which is not git's" for name in sorted(held - wanted))
    yield from (f"the source archive lacks {name}" for name in sorted(wanted - held))


CHECKS: dict[Callable[[], Iterator[str]], str] = {
    files: "", program: "", frameworks_absent: "", names_of_before: "", types: "mypy", own_types: "mypy",
    metadata: "hatch_fancy_pypi_readme", source_archive: "hatch_fancy_pypi_readme",
}  # and the tool that each needs
OF_ALL_BUILDINGS = (own_types,)


def left_out() -> str:
    return run(sys.executable, "-c", "import d5; print(*d5._d5._left_out(), sep=', ')").stdout.strip()


def main() -> int:
    install()
    breaches, absent = 0, 0
    for check, tool in CHECKS.items():
        if check in OF_ALL_BUILDINGS and left_out():
            print(f"{check.__name__}: skipped, for this build is without {left_out()}")
            continue
        if tool and not importlib.util.find_spec(tool):
            print(f"{check.__name__}: skipped, no {tool} for this Python; scripts/setup installs it")
            absent += 1
            continue
        found = list(check())
        print("\n".join(found) or f"{check.__name__}: in order")
        breaches += len(found)
    return 1 if breaches else 4 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
