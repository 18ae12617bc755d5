#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines that the check `words` refuses, each with its rule, and lines that it must let pass.

Prints each that it judges otherwise; exit status 1 if there is any.
"""

import sys

import words

# What stands in a file of that name, and the rules that it breaks.
CASES: list[tuple[str, str, list[str]]] = [
    ("a.cpp", "/// Of each rank.\nint x;", ["comment"]),
    ("a.cpp", "// SPDX-License-Identifier: Apache-2.0\n// Where ranks differ.\n", ["comment"]),
    ("a.cpp", "int x;  ///< of one sample\nint y;  ///< of all\n", ["comment", "comment"]),
    ("a.cpp", "int x;  ///< bytes of one\n        ///< of two\n", []),
    ("a.cpp", "/// Splits.\n///\n/// Of a batch.\n", ["comment"]),
    ("a.cpp", "/// Computes\n///     a = b\n///\n/// of rows x columns.\n", []),
    ("a.cpp", "/* So many files. */\n", ["comment"]),
    ("a.cpp", 'f("// Of a text");', []),
    ("a.cpp", 'f(R"x(// Of "a" text)x");', []),
    ("a.cpp", 'options.add("seed", seed, "of the order");', ["help"]),
    ("a.cpp", 'options.add("seed", seed,\n            "seed of "\n            "the order", {.least = 1});', []),
    ("a.cpp", 'options.add("boxes", boxes, "at most so many");', []),
    ("a.cpp", 'command.add_option_function<std::string>("--seed", [](int i) { f(i, 2); }, "of the order");', ["help"]),
    ("a.cpp", 'registry.add("ring", Entry::of<Part<int>>("from rank to rank"));', ["help"]),
    ("a.cpp", 'command.add_flag("--x", x, is_long ? "in one file" : "one file");', ["help"]),
    ("a.cpp", 'command.add_flag("--x", x, fmt::format("with {}", name));', ["help"]),
    ("a.cpp", 'command.add_option("--x", x, std::string("of ") + name + "; with more");', ["help"]),
    ("a.cpp", 'table.add({"name", "of the thing", "x"});', []),
    ("a.cpp", 'constexpr const char* kMemoryHelp =\n    "of the process";', ["help"]),
    ("a.cpp", 'throw Error("a value that is none");', ["word"]),
    ("a.cpp", "// A setting that is none of the options.\n", []),
    ("a.cpp", "// Empty where there is none.\n", []),
    ("a.cpp", "// Heeds the limit, reckoned anew.\n", ["word", "word", "word"]),
    ("a.cpp", "// `heed` is the name of a function.\n", []),
    ("a.cpp", "int anew = reckon(told);\n", []),
    ("a.cpp", "// Shapes can be told apart. OpenVINO is told to compute; 4 unless told otherwise.\n", []),
    ("a.cpp", "// The rate is told of each epoch.\n", ["word"]),
    ("a.cpp", "// The user is told why.\n", []),
    ("a.cpp", 'connect("SELECT x AS told GROUP BY y");', []),
    ("python/a.cpp", 'm.def("f", &f, "Of the rank test.");', ["comment"]),
    ("a.py", 'def f():\n    """Of each rank."""\n', ["comment"]),
    ("a.py", 'parser.add_argument("--seed", help="of the order")\n', ["help"]),
    ("a.py", "x = y is None  # one that is None\n", []),
    ("CMakeLists.txt", "# In which folder it lies.\n", ["comment"]),
    ("CMakeLists.txt", 'message("# Of a text")\n', []),
    ("a.yaml", "name: {type: string, description: of the job, example: a}\n", ["help"]),
    ("a.md", "word " * 21 + "\n", ["long"]),
    ("a.md", "| " + "word " * 21 + "|\n```\n" + "word " * 21 + "\n```\n", []),
    ("a.md", "[" + "word " * 18 + "](https://example.org/a/long/address)\n", []),
    ("a.md", "Text.\n\n    " + "word " * 21 + "\n", []),
    ("a.md", "Whoever comes last.\n", ["word"]),
]


def main() -> int:
    wrong = 0
    for path, text, expected in CASES:
        found = [one.rule for one in words.of_file(path, text)]
        if found != expected:
            wrong += 1
            print(f"{path}: expected {expected}, found {found}:\n{text}")
    print(f"words: {len(CASES) - wrong} of {len(CASES)} cases as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
