#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves the house: the include arrow, umbrella headers, one version, names of files, no
static initialisers, format, sentences.

usage: check_house.py SOURCE_DIR CHECK [for units: BUILD_DIR, for words: --count, PATHS]
CHECK: arrow, umbrellas, version, before, names, units, initialisers, conditions, options, readme, links, words, format
Prints each breach as file:line: message; exit status 1 if there is any, 4 if a tool is not installed.
"""

import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import words as sentences

# Folders of what uses the levels. In them a folder of a building's name holds what is that building's own.
OUTSIDE = ("apps", "python", "tests", "benchmarks", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](?:d5/)?((?:[a-z0-9_]+/)+[a-z0-9_.]+)[>"]', re.M)


def sources(folder: pathlib.Path, *suffixes: str) -> list[pathlib.Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes)


def tree(root: pathlib.Path) -> dict[str, list[str]]:
    """Folders of src/, each with those that it may include, itself the last: as src/README.md draws them."""
    allowed: dict[str, list[str]] = {}
    drawn = (root / "src/README.md").read_text().split("```")[1]
    for line in drawn.strip().split("\n"):
        before: list[str] = []
        for folder in line.strip().split(" <- "):
            before = allowed.setdefault(folder, [*before, folder])
    return allowed


def buildings(root: pathlib.Path) -> list[str]:
    """Those that can be left out: they have an option."""
    options = re.findall(r"^option\(D5_BUILD_(\w+) ", (root / "cmake/buildings.cmake").read_text(), re.M)
    return [option.lower() for option in options]


def arrow(root: pathlib.Path) -> Iterator[str]:
    """A level or building includes and links what the tree has before it; nothing includes frameworks, apps, python
    or tests. Within it, a room includes only what its README lists above it. Elsewhere only the folders of a
    building include it."""
    allowed = tree(root)
    yield from (f"{root}/src/README.md:1: the tree lacks {p.name}" for p in sorted((root / "src").iterdir())
                if p.is_dir() and p.name not in allowed)
    for level in allowed:
        for place in ("include/d5", "src"):
            folder = root / place / level
            files = sources(folder, ".hpp", ".cpp", ".h")
            if not files:
                yield f"{folder}: no sources here; is the tree in src/README.md out of date?"
            for file in files:
                for line, target in included(file):
                    if target[0] in allowed and target[0] not in allowed[level]:
                        yield f"{file}:{line}: {level} includes {target[0]}, which does not stand before it"
                    if target[0] in ("frameworks", *OUTSIDE):
                        yield f"{file}:{line}: {level} includes {target[0]}"
        script = root / "src" / level / "CMakeLists.txt"
        linked = re.findall(r"\bd5::(\w+)", script.read_text())
        below = {name.split("_")[0] for name in allowed[level]}
        yield from (f"{script}:1: {level} links d5::{name}, which does not stand before it"
                    for name in linked if name not in below and not name[0].isupper())
        if any(p.is_dir() for p in (root / "src" / level).iterdir()) and level != "onnx":
            yield from room_arrow(root, level)
    yield from building_arrow(root, allowed)
    yield from old_paths(root)


def old_paths(root: pathlib.Path) -> Iterator[str]:
    """What cmake/forwarding.cmake forwards is included by its new path."""
    new = {f"d5/{p.parent.parent.name}/{p.name}": p.relative_to(root / "include")
           for p in (root / "include/d5").glob("*/*/*.hpp")}
    for place in ("include", "src", "frameworks", *OUTSIDE):
        for file in sources(root / place, ".hpp", ".cpp", ".h", ".cu"):
            if file.is_relative_to(root / "tests/house"):  # its programs are others'
                continue
            text = file.read_text()
            for match in re.finditer(r'^#include ["<](d5/\w+/\w+\.hpp)[">]', text, re.M):
                if match.group(1) in new:
                    yield f"{file}:{text.count(chr(10), 0, match.start()) + 1}: include {new[match.group(1)]}"


def building_arrow(root: pathlib.Path, allowed: dict[str, list[str]]) -> Iterator[str]:
    """What a building is left out with: a file outside its folders includes nothing of it."""
    optional = buildings(root)
    for place in OUTSIDE:
        for file in sources(root / place, ".hpp", ".cpp", ".h", ".cu"):
            own = [one for part in file.relative_to(root).parts[:-1]
                   for one in allowed.get(part.removeprefix("no_"), [])]
            for line, target in included(file):
                for building in set(target[:-1]).intersection(optional) - set(own):
                    yield f"{file}:{line}: includes {'/'.join(target)}, but stands in no folder {building}"


def included(file: pathlib.Path) -> list[tuple[int, tuple[str, ...]]]:
    """Lines, and what they include of d5 as the parts of a path, without d5/."""
    text = file.read_text()
    return [(text.count("\n", 0, match.start(1)) + 1, tuple(match.group(1).split("/")))
            for match in INCLUDE.finditer(text)]


def room_arrow(root: pathlib.Path, level: str) -> Iterator[str]:
    """By the table in src/<level>/README.md, a row a room: its folders in src and include."""
    readme = root / "src" / level / "README.md"
    rooms = [name for name in re.findall(r"^\| (\w+) \| .+ \|$", readme.read_text(), re.M) if name != "room"]
    places = (root / "src" / level, root / "include/d5" / level)
    folders = {p.name for p in places[0].iterdir() if p.is_dir()}
    public = {p.name for p in places[1].iterdir() if p.is_dir()}
    yield from (f"{readme}:1: has no row for {room}" for room in sorted((folders | public) - set(rooms)))
    yield from (f"{readme}:1: {room} is no folder" for room in sorted(set(rooms) - folders))
    yield from (f"{p}:1: stands in no room" for place in places for p in sorted(place.glob("*.?pp")) if p.stem != level)
    for place in places:
        for room in rooms:
            for file in sources(place / room, ".hpp", ".cpp"):
                for line, target in included(file):
                    if target[0] == level and target[1] in rooms and rooms.index(target[1]) > rooms.index(room):
                        yield f"{file}:{line}: room {room} includes {'/'.join(target)}, which stands below it"


def umbrellas(root: pathlib.Path) -> Iterator[str]:
    """include/d5/<folder>/<folder>.hpp includes every header of its folder; d5.hpp every umbrella."""
    top = (root / "include/d5/d5.hpp").read_text()
    optional = buildings(root)  # generated d5/buildings.hpp has them
    for level in tree(root):
        folder = root / "include/d5" / level
        umbrella = folder / f"{level}.hpp"
        text = umbrella.read_text() if umbrella.exists() else ""
        for header in sources(folder, ".hpp"):
            name = header.relative_to(root / "include")
            if header != umbrella and f'"{name}"' not in text:
                yield f"{umbrella}:1: does not include {name}"
        if f'"d5/{"buildings" if level in optional else f"{level}/{level}"}.hpp"' not in top:
            yield f"{root}/include/d5/d5.hpp:1: does not include d5/{level}/{level}.hpp"


def version(root: pathlib.Path) -> Iterator[str]:
    """The version stands in include/d5/version.hpp; what else names it says the same."""
    header = root / "include/d5/version.hpp"
    stated = re.findall(r'^#define D5_VERSION "(\d+\.\d+\.\d+)"$', header.read_text(), re.M)
    if len(stated) != 1:
        yield f"{header}:1: expected one line '#define D5_VERSION \"X.Y.Z\"'"
        return
    named = {"CHANGELOG.md": r"^## \[(\d+\.\d+\.\d+)\]", "CITATION.cff": r"^version: (\S+)$",
             "docs/guide/tour.md": r"^reference +(\d+\.\d+\.\d+) "}
    for name, pattern in named.items():
        text = (root / name).read_text()
        match = re.search(pattern, text, re.M)
        if not match:
            yield f"{root / name}:1: names no version ({pattern})"
        elif match.group(1) != stated[0]:
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{root / name}:{line}: says {match.group(1)}, but include/d5/version.hpp says {stated[0]}"
    for name in ("CMakeLists.txt", "pyproject.toml", "python/CMakeLists.txt", "python/d5/__init__.py"):
        if re.search(rf"(?<![\d.]){re.escape(stated[0])}(?![\d.])", (root / name).read_text()):
            yield f"{root / name}:1: says {stated[0]} itself; read include/d5/version.hpp"


def before(root: pathlib.Path) -> Iterator[str]:
    """Every public header of 0.1.0 is still there or forwarded, or the change log says what to include instead."""
    changes = (root / "CHANGELOG.md").read_text()
    for header in (root / "tests/house/before/headers.txt").read_text().split():
        place = root / "include" / header
        if not place.exists() and not [*place.parent.glob(f"*/{place.name}")] and header not in changes:
            yield f"{root}/CHANGELOG.md:1: {header} is gone, and nothing says so; name what to include instead"


def names(root: pathlib.Path) -> Iterator[str]:
    """No drawer names, an SPDX line first, no file that outgrew one idea without saying why."""
    for place in ("include", "src", "apps", "python", "frameworks", "examples", "benchmarks"):
        for file in sources(root / place, ".hpp", ".cpp", ".h", ".c", ".py"):
            if re.search(r"util|helper|common|misc", file.stem):
                yield f"{file}:1: name it after what it is"
            first = file.read_text().split("\n", 2)[:2]
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in first):
                yield f"{file}:1: the first line is not the SPDX line"


def units(build: pathlib.Path) -> Iterator[str]:
    """Files that a build compiles at once define no name twice: a call would find the other's overload, or the
    compiler stop. Aliases of the same are the same."""
    defined = re.compile(
        r"^(?:template\s*<.*>\s*)?(?:\[\[[^\]]*\]\]\s*)?(?:using (\w+)\s*=|"
        r"(?:struct|class|enum class|enum|union) (\w+)\b|"
        r"(?:inline |static |constexpr |const |thread_local )*[\w:<>,\s\*&\[\]]*?[\s\*&](\w+)\s*(?:\(|=|\{|\[|;))")
    compiled = (build / "compile_commands.json").read_text()  # the last configuration's files
    found = [unit for unit in sorted(build.rglob("Unity/unity_*.cxx")) if str(unit) in compiled]
    if not found:
        print("skipped: this build compiles each file alone (D5_UNITY)")
        sys.exit(4)
    for unit in found:
        first: dict[str, tuple[str, str]] = {}
        for file in re.findall(r'^#include "(.+)"', unit.read_text(), re.M):
            nameless = False
            for number, line in enumerate(pathlib.Path(file).read_text().split("\n"), 1):
                if line.startswith("namespace {") or line == "}  // namespace":
                    nameless = line.startswith("namespace {")
                match = defined.match(line) if nameless and line[:1] not in (" ", "}", "#", "/") else None
                if not match:
                    continue
                name = next(group for group in match.groups() if group)
                place, text = first.setdefault(name, (f"{file}:{number}", line))
                is_alias = line.startswith(("using ", "namespace ")) and line == text
                if not place.startswith(file + ":") and not is_alias:
                    yield f"{file}:{number}: {name} is also in {place}, and both are compiled at once; rename one"


def initialisers(root: pathlib.Path) -> Iterator[str]:
    """No object of src/ is constructed before main: a linker may drop it, and its order is anyone's."""
    made = re.compile(r"^(?:static |inline )*const (?:std::)?\w+(?:<.*>)? \w+ *(?:=|\{|;|\(.*\);)", re.M)
    simple = re.compile(r"const (?:bool|char|int|double|float|auto|(?:std::)?u?int\d+_t|(?:std::)?size_t) ")
    for file in sources(root / "src", ".hpp", ".cpp"):
        text = file.read_text()
        for match in made.finditer(text):
            if not simple.search(match.group()):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{file}:{line}: is constructed before main; make it constexpr, or a function's static"


def readme(root: pathlib.Path) -> Iterator[str]:
    """Every complete program in the README is an example, which is built and run as a test."""
    examples = "".join(p.read_text() for p in sources(root / "examples", ".cpp", ".py"))
    text = (root / "README.md").read_text()
    blocks = re.findall(r"```(?:cpp|python)\n(.*?)```", text, re.S)
    if not blocks:
        yield f"{root}/README.md:1: holds no program"
    for block in blocks:
        if block not in examples:
            yield f"{root}/README.md:{text.count(chr(10), 0, text.index(block)) + 1}: is no example's text"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        if not (root / link).exists():
            yield f"{root}/README.md:1: links to {link}, which is not there"


def links(root: pathlib.Path) -> Iterator[str]:
    """What a page links to, or names as a file of this tree, is there; of a change log that is past."""
    named = re.compile(r"`((?:src|include|tests|apps|python|frameworks|examples|benchmarks|cmake|scripts|docs)/[\w./-]+)`")
    for page in sources(root, ".md"):
        inside = page.relative_to(root)
        if inside.parts[0] == "build" or any(part.startswith(".") for part in inside.parts) or page.name == "CHANGELOG.md":
            continue
        text = page.read_text()
        linked = [(m, page.parent / m.group(1)) for m in re.finditer(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)]
        for match, target in [*linked, *((m, root / m.group(1)) for m in named.finditer(text))]:
            of_its_folder = page.parent / match.group(1)
            if not target.exists() and not of_its_folder.exists() and "NAME" not in match.group(1):
                yield f"{page}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)} is not there"


def formatted(root: pathlib.Path) -> Iterator[str]:
    """As clang-format writes it: the one that scripts/setup installed, for versions differ."""
    tool = shutil.which("clang-format", path=str(pathlib.Path(sys.executable).parent))
    if not tool:
        print("skipped: no clang-format beside this Python; scripts/setup installs it")
        sys.exit(4)
    folders = ("include", "src", "apps", "python", "frameworks", "examples", "benchmarks", "tests")
    files = [f for folder in folders for f in sources(root / folder, ".hpp", ".cpp", ".h", ".c")]
    for start in range(0, len(files), 50):
        run = subprocess.run([tool, "--dry-run", *files[start:start + 50]], capture_output=True,
                             text=True, check=True)
        places = re.findall(r"^(\S+:\d+):\d+: warning: code should be", run.stderr, re.M)
        yield from (f"{place}: clang-format -i writes it otherwise" for place in dict.fromkeys(places))


def conditions(root: pathlib.Path) -> Iterator[str]:
    """No list of names of conditions but the reader's, for records of old schemas: a record says the role of each."""
    reader = root / "src/core/results/results_schema2.cpp"
    files = [p for place in ("src", "include", "apps", "python", "frameworks") for p in sources(root / place, ".cpp", ".hpp")
             if "tests" not in p.parts]
    texts = {file: file.read_text() for file in files}
    names = {name for text in texts.values() for name in re.findall(r'conditions\["([^"]+)"\]\s*=', text)}
    if len(names) < 50:
        yield f"{reader}:1: only {len(names)} names of conditions are found in the sources; is the pattern out of date?"
    for file, text in texts.items():
        if file == reader:
            continue
        for match in re.finditer(r'\{\s*("[^"\\]*"(?:,\s*"[^"\\]*")+)\s*\}', text):
            listed = re.findall(r'"([^"]*)"', match.group(1))
            known = [name for name in listed if name in names]
            if len(known) > 2 and len(known) == len(listed):
                yield f"{file}:{text.count(chr(10), 0, match.start()) + 1}: a list of conditions ({', '.join(known)}): ask their roles"


def options(root: pathlib.Path) -> Iterator[str]:
    """Messages of the library name options by `option_word`: a flag is the program's. Commands, in quotes, have flags."""
    literal = r'"((?:[^"\\\n]|\\.)*)"'
    of_others = {"oversubscribe", "shm-size", "gres", "version", "sparse"}  # mpirun's, docker's, sbatch's, tar's
    for file in sources(root / "src", ".cpp", ".hpp"):
        text = re.sub(r"^\s*///?.*$", "", file.read_text(), flags=re.M)
        for match in re.finditer(rf"{literal}(?:\s+{literal})*", text):
            words = "".join(re.findall(literal, match.group(0)))
            words = re.sub(r"['`](?:mpirun|d5) [^'`]*['`]", "", words)
            flags = re.findall(r"(?<![\w-])--([a-z][a-z-]+)", words)
            is_command_line = words.lstrip().startswith("--")
            if not is_command_line and any(flag not in of_others for flag in flags):
                yield f"{file}:1: a message says --{flags[0]}: use option_word ({words[:60]})"


def words(root: pathlib.Path, rest: list[str]) -> Iterator[str]:
    """Comments, help texts and pages follow the rules for sentences, as far as a pattern can see (words.py)."""
    found = sentences.findings(root, tuple(one for one in rest if one != "--count"))
    if "--count" in rest and found:
        yield sentences.counted(found)
    else:
        yield from (f"{root}/{one.path}:{one.line}: {one.rule}: {one.message}" for one in found)


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit("usage: check_house.py SOURCE_DIR CHECK ...")
    root, check, *rest = pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:]
    checks: dict[str, Callable[[pathlib.Path], Iterator[str]]] = {
        "arrow": arrow, "umbrellas": umbrellas, "version": version, "before": before, "names": names, "initialisers": initialisers,
        "conditions": conditions, "options": options,
        "readme": readme, "links": links, "words": lambda r: words(r, rest), "format": formatted,
        "units": lambda _: units(pathlib.Path(rest[0]))}
    if check not in checks or (check == "units" and not rest):
        sys.exit("usage: check_house.py SOURCE_DIR " + ("units BUILD_DIR" if check == "units" else "CHECK ..."))
    breaches = list(checks[check](root))
    print("\n".join(breaches) or f"{check}: in order")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
