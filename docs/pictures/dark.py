# SPDX-License-Identifier: Apache-2.0
"""Writes a plot of d5 in the dark colours that its pages have.

    d5 report r.json --format html | python3 dark.py plot.svg > plot-dark.svg
"""

import pathlib
import re
import sys

page = sys.stdin.read()
dark = page[page.index("@media (prefers-color-scheme:dark)"):]
rules = "".join(re.findall(r"\.plot \.\w+\{[^}]*\}", dark[:dark.index("}}")] + "}"))
plot = pathlib.Path(sys.argv[1]).read_text()
sys.stdout.write(re.sub(r"<style>.*?</style>", lambda _: f"<style>{rules}</style>", plot, count=1, flags=re.S))
