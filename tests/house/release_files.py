#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves scripts/release on a clone of the last commit: what it refuses, by name, and the files that it makes. The wheel
is a stand-in, for a real one takes a whole build.

usage: release_files.py SOURCE_DIR
Prints each breach; exit status 1 if there is any, 4 if this is no tree of git.
"""

import hashlib
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

SOURCE = pathlib.Path(sys.argv[1]).resolve()


def script() -> Any:
    sys.dont_write_bytecode = True  # beside scripts/release
    loader = importlib.machinery.SourceFileLoader("release_script", str(SOURCE / "scripts/release"))
    spec = importlib.util.spec_from_loader("release_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def git(folder: pathlib.Path, *words: str) -> str:
    settings = ("user.name=test", "user.email=test@example.org", "commit.gpgsign=false", "tag.gpgsign=false")
    own = [word for setting in settings for word in ("-c", setting)]
    return subprocess.run(["git", "-C", str(folder), *own, *words], check=True, capture_output=True, text=True).stdout


def edit(file: pathlib.Path, pattern: str, text: str) -> None:
    before = file.read_text()
    after = re.sub(pattern, text, before, count=1, flags=re.M | re.S)
    assert after != before, f"{file}: nothing to change for {pattern}"
    file.write_text(after)


def refusals(release: Any, clone: pathlib.Path, version: str) -> Iterator[str]:
    """Each change of the clone, and the reasons that it must give."""
    log, header, citation = clone / "CHANGELOG.md", clone / "include/d5/version.hpp", clone / "CITATION.cff"
    heading = rf"^## \[{re.escape(version)}\] - \S+$"
    first = git(clone, "rev-list", "--max-parents=0", "HEAD").split()[0]
    cases: dict[str, tuple[Callable[[], object], list[str]]] = {
        "nothing": (lambda: None, []),
        "a new file": (lambda: (clone / "stray").write_text("x"), ["tree"]),
        "no date": (lambda: edit(log, heading, f"## [{version}]"), ["tree", "changelog"]),
        "a date that is no day": (lambda: edit(log, heading, f"## [{version}] - 2026-02-30"), ["tree", "changelog"]),
        "another section": (lambda: edit(log, heading, "## [9.9.9] - 2026-01-01"), ["tree", "version", "changelog"]),
        "an unreleased entry": (lambda: edit(log, r"^## \[Unreleased\]$", "## [Unreleased]\n\n- New."),
                                ["tree", "changelog"]),
        "another version": (lambda: edit(header, version, "9.9.9"), ["tree", *["version"] * 3, "changelog"]),
        "another day": (lambda: edit(citation, r"^date-released: .+?$", "date-released: 2001-01-01"),
                        ["tree", "citation"]),
        "a tag elsewhere": (lambda: git(clone, "tag", f"v{version}", first), ["tag"]),
    }
    for name, (change, expected) in cases.items():
        change()
        found = release.reasons(clone, with_house=False)
        if [line.partition(":")[0] for line in found] != expected:
            yield f"{name}: expected {expected}, refused for {found}"
        git(clone, "checkout", "--quiet", "--", ".")
        git(clone, "clean", "--quiet", "-fd")
    git(clone, "tag", "--delete", f"v{version}")


def files(release: Any, clone: pathlib.Path, version: str, work: pathlib.Path) -> Iterator[str]:
    wheel = work / f"d5-{version}-cp311-cp311-manylinux_2_36_x86_64.whl"
    wheel.write_bytes(b"a stand-in")
    one, two = work / "out/one", work / "out/two"
    release.make(one, clone, True, wheel)
    release.make(two, clone, False, None)
    names = sorted(file.name for file in one.iterdir())
    archive = f"d5-{version}.tar.gz"
    expected = sorted([archive, wheel.name, f"d5-{version}.spdx.json", f"d5-{version}-notes.md", "SHA256SUMS"])
    if names != expected:
        yield f"files: {names}, expected {expected}"
    if (one / archive).read_bytes() != (two / archive).read_bytes():
        yield f"{archive} has other bytes the second time"
    with tarfile.open(one / archive) as packed:
        held = {name.partition("/")[2] for name in packed.getnames() if not packed.getmember(name).isdir()}
    if held != set(git(clone, "ls-files").splitlines()):
        yield f"{archive} differs from what git has: {sorted(held ^ set(git(clone, 'ls-files').splitlines()))[:5]}"
    sums = {name: digest for digest, name in map(str.split, (one / "SHA256SUMS").read_text().splitlines())}
    if sums != {name: hashlib.sha256((one / name).read_bytes()).hexdigest() for name in names if name != "SHA256SUMS"}:
        yield f"SHA256SUMS: {sums}"
    notes = (one / f"d5-{version}-notes.md").read_text()
    if not notes.startswith(f"# d5 {version}\n") or "### " not in notes or "## [" in notes.replace("### ", ""):
        yield f"notes: {notes[:200]}"
    yield from bill(json.loads((one / f"d5-{version}.spdx.json").read_text()), one)
    try:
        release.make(work / "out/three", clone, True, SOURCE / "README.md")
        yield "a wheel by the name of README.md is not refused"
    except release.Refused:
        pass
    left = sorted(file.name for file in (work / "out").iterdir())
    if left != ["one", "two"]:
        yield f"left behind: {left}"


def bill(document: dict[str, Any], folder: pathlib.Path) -> Iterator[str]:
    """The SBOM: its ids are unique and there, it has what scripts/setup and the page have, and the files' sums."""
    ids = [part["SPDXID"] for part in [*document["packages"], *document["files"]]]
    if len(ids) != len(set(ids)):
        yield f"SBOM: an id is there twice: {sorted(one for one in set(ids) if ids.count(one) > 1)}"
    named = {document["SPDXID"], *ids}
    yield from (f"SBOM: {line} names nothing" for line in document["relationships"]
                if line["spdxElementId"] not in named or line["relatedSpdxElement"] not in named)
    packages = {part["name"] for part in document["packages"]}
    wanted = {"d5", "libprotobuf-dev", "libsqlite3-dev", "torch", "onnx", "mlcommons-loadgen", "numpy", "echarts"}
    if wanted - packages:
        yield f"SBOM: lacks {sorted(wanted - packages)}"
    for file in document["files"]:
        sums = {one["algorithm"]: one["checksumValue"] for one in file["checksums"]}
        if sums["SHA256"] != hashlib.sha256((folder / file["fileName"]).read_bytes()).hexdigest():
            yield f"SBOM: another sum for {file['fileName']}"


def usage() -> Iterator[str]:
    for words in ([], ["--check", "folder"], ["folder", "--wheel", "a.whl", "--without-wheel"], ["--unknown"]):
        done = subprocess.run([sys.executable, SOURCE / "scripts/release", *words], capture_output=True, text=True)
        if done.returncode != 2 or "usage:" not in done.stderr:
            yield f"scripts/release {' '.join(words)}: exit status {done.returncode}: {done.stderr}"


def main() -> int:
    if subprocess.run(["git", "-C", str(SOURCE), "rev-parse", "--quiet", "HEAD"], capture_output=True).returncode != 0:
        print("skipped: this is no tree of git")
        return 4
    release = script()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary).resolve()
        clone = work / "clone"
        subprocess.run(["git", "clone", "--quiet", "--shared", SOURCE, clone], check=True, capture_output=True)
        version = release.stated_version(clone)
        # As on the day of a release: all entries are in the version's section, and it has no tag yet.
        log = clone / "CHANGELOG.md"
        log.write_text(re.sub(r"(^## \[Unreleased\]\n).*?(?=^## \[)", r"\1\n", log.read_text(), flags=re.M | re.S))
        git(clone, "commit", "--quiet", "--allow-empty", "--all", "--message", "release")
        for tag in git(clone, "tag", "--list", f"v{version}").split():
            git(clone, "tag", "--delete", tag)
        breaches = [*refusals(release, clone, version), *files(release, clone, version, work), *usage()]
    print("\n".join(breaches) or "release: in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
