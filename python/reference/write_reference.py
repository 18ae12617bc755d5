# SPDX-License-Identifier: Apache-2.0
"""Writes the reference pages of the module d5 from its signatures, docstrings and programs that run.

usage: write_reference.py [FOLDER]    by default docs/reference
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
import sys
import textwrap
from collections.abc import Iterator

import reference_examples

import d5
from d5._parameters import parts, plain

WIDTH = 100
MOST_SOURCES = 3  # places that a class is said to come from
MODULES = ("d5", "d5.op", "d5.torch", "d5.logs")


class Name:
    """A public name, its object and the lines of its docstring that are no signatures."""

    def __init__(self, module: str, name: str, made: object) -> None:
        self.full, self.made = f"{module}.{name}", made
        self.signatures, self.words = _split(name, made)

    @property
    def about(self) -> str:
        """The paragraphs before the first block of code."""
        return self._words_around_code()[0]

    @property
    def rest(self) -> str:
        """The paragraphs after it."""
        return self._words_around_code()[1]

    def _words_around_code(self) -> tuple[str, str]:
        around: tuple[list[str], list[str]] = [], []
        seen = False
        for paragraph in re.split(r"\n[^\S\n]*\n", self.words):
            seen = seen or paragraph.startswith("    ")
            if not paragraph.startswith("    "):
                around[seen].append(" ".join(paragraph.split()))
        return "\n\n".join(around[0]), "\n\n".join(around[1])


def _split(name: str, made: object) -> tuple[list[str], str]:
    """Signatures, and what follows them."""
    text = reference_examples.doc_of(made)
    found = re.findall(rf"^(?:\d+\. )?{re.escape(name)}(\(.*\)(?: -> .*)?)$", text, re.M)
    words = re.sub(rf"^(?:\d+\. )?{re.escape(name)}\(.*\)(?: -> .*)?$|^Overloaded function\.$", "", text, flags=re.M)
    told = [one for one in found if not one.startswith("(*args, **kwargs)")]
    if isinstance(made, type):
        told = list(_constructors(made))
    elif not told and inspect.isroutine(made):
        told = [str(inspect.signature(made))]
    return told, words.strip()


def _constructors(made: type) -> Iterator[str]:
    """Signatures of its `__init__`, if users may call it."""
    init = made.__init__  # type: ignore[misc]
    told = re.findall(r"^(?:\d+\. )?__init__\(self: [^,)]*(?:, )?(.*)\) -> None$", inspect.getdoc(init) or "", re.M)
    if told:
        yield from (f"({one})" for one in told if one != "*args, **kwargs")
    elif inspect.isfunction(init):
        signature = inspect.signature(init)
        if str(signature) in ("(*args, **kwargs)", "(self, *args, **kwargs)", "(self, /, *args, **kwargs)"):
            return
        yield str(signature.replace(parameters=list(signature.parameters.values())[1:], return_annotation=signature.empty))


def names_of(module: str) -> list[Name]:
    made = importlib.import_module(module)
    chosen = [name for name in getattr(made, "__all__", dir(made)) if not name.startswith("_")]
    if module == "d5.op":
        chosen = [name for name in chosen if getattr(getattr(made, name), "__module__", "") == module]
    known = [(name, getattr(made, name)) for name in sorted(chosen)]
    return [Name(module, name, one) for name, one in known if callable(one) and not inspect.ismodule(one)]


def is_class(one: Name) -> bool:
    return isinstance(one.made, type)


def wrapped(text: str, indent: str = "") -> str:
    return "\n\n".join(
        textwrap.fill(part, WIDTH, initial_indent=indent, subsequent_indent=indent and "  ", break_long_words=False, break_on_hyphens=False)
        for part in text.split("\n\n")
    )


def call_of(full: str, signature: str) -> str:
    """A call over one line, or a parameter a line."""
    whole = plain(re.sub(r"^\(self(: [^,)]*)?(, |(?=\)))", "(", signature))
    called, arrow, result = whole.rpartition(") -> ")
    inside = (called if arrow else whole.removesuffix(")")).removeprefix("(")
    end = f") -> {result}" if arrow else ")"
    line = f"{full}({inside}{end}"
    if len(line) <= WIDTH:
        return line
    rows = "".join(f"    {part.strip()},\n" for part in parts(inside))
    return f"{full}(\n{rows}{end}"


def members_of(one: Name) -> Iterator[str]:
    assert isinstance(one.made, type)
    for name in sorted(vars(one.made)):
        member = getattr(one.made, name)
        if name.startswith("_") or not (isinstance(member, property) or callable(member)):
            continue
        signatures, words = _split(name, member)
        if isinstance(member, property):
            words = re.sub(r"^\(.*\) -> .*$", "", inspect.getdoc(member) or "", flags=re.M).strip()
        about = " ".join(words.split("\n\n")[0].split())
        calls = [call_of(name, signature).replace("\n    ", " ").replace("( ", "(").replace(",\n)", ")") for signature in signatures[:1]]
        text = f"- `{calls[0] if calls else name}`: {about}"
        yield textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def sources_of(every: list[Name]) -> dict[str, list[str]]:
    """By a class's name: the functions, methods and properties that give such an object, and the hooks that
    are called with one."""
    found: dict[str, list[str]] = {}
    for one in every:
        for name, member in [("", one.made), *(vars(one.made).items() if isinstance(one.made, type) else ())]:
            who = f"{one.full}.{name}" if name else one.full
            if name.startswith("_") or (isinstance(one.made, type) and not name):
                continue
            told = inspect.getdoc(member.fget if isinstance(member, property) else member) or ""
            if inspect.isfunction(member) and not getattr(member, "__wrapped__", None):
                told = str(inspect.signature(member))
                kinds = re.findall(r": '?(?:d5\.)?([A-Z]\w+)", told)
            else:
                kinds = re.findall(r"\w+", "".join(re.findall(r"\) -> (.*)$", told, re.M)))
                if not name:
                    kinds += re.findall(r"\w+", str(inspect.signature(member).return_annotation))
            for kind in dict.fromkeys(kinds):
                found.setdefault(kind, []).append(who)
    return found


def origin_of(one: Name, sources: dict[str, list[str]]) -> str:
    """The calls that give an object of a class."""
    given = [who for who in sources.get(one.full.rpartition(".")[2], []) if not who.startswith(f"{one.full}.")]
    return f"From {', '.join(f'`{who}`' for who in given[:MOST_SOURCES])}." if given else ""


def section(one: Name, examples: dict[str, str], sources: dict[str, list[str]]) -> str:
    """A name: call, words, example or origin, members."""
    text = f"### {one.full}\n\n"
    if one.signatures:
        text += "```\n" + "\n".join(call_of(one.full, signature) for signature in one.signatures) + "\n```\n\n"
    if one.about:
        text += wrapped(one.about) + "\n\n"
    example = example_of(one, examples)
    if example:
        text += f"```python\n{example}\n```\n\n"
    if one.rest:
        text += wrapped(one.rest) + "\n\n"
    if is_class(one):
        text += "" if example or not (origin := origin_of(one, sources)) else f"{wrapped(origin)}\n\n"
        members = list(members_of(one))
        text += "\n".join(members) + "\n\n" if members else ""
    return text


def example_of(one: Name, examples: dict[str, str]) -> str:
    found = reference_examples.of_docstring(one.made) or examples.get(one.full, "")
    return found or ("" if is_class(one) or needs_arguments(one) else f"{one.full}()")


def needs_arguments(one: Name) -> bool:
    taken = inspect.signature(one.made).parameters.values()  # type: ignore[arg-type]
    return any(parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD for parameter in taken)


def pages() -> dict[str, str]:
    """Text by the page's name."""
    examples = reference_examples.of_programs()
    every = [one for module in MODULES for one in names_of(module)]
    errors = [one for one in every if is_class(one) and issubclass(one.made, BaseException)]  # type: ignore[arg-type]
    classes = [one for one in every if is_class(one) and one not in errors]
    functions = [one for one in every if not is_class(one)]
    sources = sources_of(every)
    told = "`python/reference/write_reference.py` writes this page from the module; examples are from docstrings and from programs that run as tests."
    return {
        "python_functions.md": page("Functions in Python", told, [section(one, examples, sources) for one in functions]),
        "python_classes.md": page("Classes in Python", told, [section(one, examples, sources) for one in [*classes, *errors]]),
    }


def page(title: str, told: str, sections: list[str]) -> str:
    text = f"# {title}\n\n{wrapped(told)}\n\n" + "".join(sections)
    return text.rstrip() + "\n"


def lacking() -> list[str]:
    """Names without an example or, of a class, an origin; besides exceptions."""
    examples = reference_examples.of_programs()
    every = [one for module in MODULES for one in names_of(module)]
    needing = [one for one in every if not (is_class(one) and issubclass(one.made, BaseException))]  # type: ignore[arg-type]
    sources = sources_of(every)
    return [one.full for one in needing if not (example_of(one, examples) or (is_class(one) and origin_of(one, sources)))]


def main(folder: pathlib.Path) -> None:
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    print(d5.__version__, file=sys.stderr)
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else reference_examples.ROOT / "docs" / "reference")
