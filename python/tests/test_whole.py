# SPDX-License-Identifier: Apache-2.0
"""What d5 has in C++ and Python lacks: every registry, every interface, every public header is in
Python, or stands in lacking.txt with a reason."""

import pathlib
import re

import pytest

import d5

pytestmark = pytest.mark.skipif(bool(d5._d5._left_out()), reason="this d5 was built without some buildings")

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "d5"
REASONS: dict[str, dict[str, str]] = {}
for line in (pathlib.Path(__file__).parent / "lacking.txt").read_text().splitlines():
    if line.startswith("["):
        kind = line.strip("[]")
        REASONS[kind] = {}
    elif line and not line.startswith("#"):
        name, _, reason = line.partition(" ")
        REASONS[kind][name] = reason.strip()

ROOMS = [room.name for room in sorted(INCLUDE.iterdir()) if room.is_dir() and room.name not in REASONS["rooms"]]


def headers():
    return {f"{room}/{file.stem}": file.read_text() for room in ROOMS for file in sorted((INCLUDE / room).rglob("*.hpp"))}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def public_names(text):
    """Classes and functions of namespace d5, by their lines: what begins at a line's begin."""
    depth = text.find("namespace detail {")
    text = without_comments(text if depth < 0 else text[:depth] + text[text.find("}  // namespace detail") :])
    classes = re.findall(r"^(?:class|struct) (\w+)[^;{]*\{", text, re.M)
    functions = re.findall(r"^(?=[\w\[])(?:\[\[nodiscard\]\] )?(?:inline )?[\w:<>,*& ]+?[ *&](\w+)\(", text, re.M)
    return {*classes, *functions} - {"to_string", "name_of"}


def registries():
    found = {}
    for name, text in headers().items():
        for registry in re.findall(r"Registry<\w+>& (\w+)\(\)", without_comments(text)):
            found[registry] = name
    return found


def interfaces():
    """Classes that somebody derives from: with a function that has no body."""
    found = {}
    for name, text in headers().items():
        for made, body in re.findall(r"^class (\w+)[^;{]*\{(.*?)^\};", without_comments(text), re.M | re.S):
            if re.search(r"\)(?: const)?\s*= 0;", body):
                found[made] = name
    return found


def split(kind, all_of_them, has):
    """What Python lacks without a reason, and reasons for what it has or C++ has no more."""
    reasons = REASONS[kind]
    lacking = [one for one in all_of_them if not has(one) and one not in reasons]
    needless = [one for one, why in reasons.items() if one not in all_of_them or (has(one) and "in Python: " not in why)]
    return lacking, needless


def has_registry(name):
    return callable(getattr(d5, name, None)) and name in dir(d5)


def has_header(text):
    names = public_names(text)
    return not names or any(hasattr(d5, name) for name in names)


def test_every_registry_has_its_names_in_python():
    assert len(registries()) > 30
    assert split("registries", registries(), has_registry) == ([], [])


def test_every_registry_takes_parts_in_python():
    """Or says why none can be written there."""
    kinds = len(d5._d5._part_kinds()) - 3  # update rules are optimizers; two are of frameworks
    given = [name for name in registries() if name not in REASONS["no parts in Python"]]
    assert all(name in registries() for name in REASONS["no parts in Python"])
    assert kinds == len(given), (sorted(d5._d5._part_kinds()), sorted(given))


def test_every_interface_can_be_derived_from():
    assert len(interfaces()) > 30
    assert split("interfaces", interfaces(), lambda name: hasattr(d5, name)) == ([], [])


@pytest.mark.parametrize("room", ROOMS)
def test_every_header_is_in_python(room):
    texts = {name: text for name, text in headers().items() if name.startswith(room + "/")}
    lacking, _ = split("headers", texts, lambda name: has_header(texts[name]))
    assert lacking == []


def test_no_reason_is_out_of_date():
    texts = headers()
    assert split("headers", texts, lambda name: has_header(texts[name]))[1] == []
    assert all(reason for reasons in REASONS.values() for reason in reasons.values())
