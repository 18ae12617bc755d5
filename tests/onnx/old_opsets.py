#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds models of old opsets, converted to the newest, against NumPy.

usage: old_opsets.py PROGRAM [CASE ...]

Each operator whose form or meaning changed between two opsets stands in a model of the older one
(old_opset_cases.py); `PROGRAM net check --transform opset` converts it and runs it in the
reference. The models that a release of ONNX carried (D5_OLDER_ONNX_CASES) are converted, too, and
held against the outputs that ONNX expects.

Exit status 4: a judge is not installed.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import old_opset_cases
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(4)

# What draws random numbers has no expected outputs, and a Gradient is of the nodes before it.
EXCEPT = ("bernoulli", "random", "dropout", "gradient_of")


def statuses(program, folders, *more):
    """By model the records that did not pass; how many there are."""
    line = [program, "net", "check", *map(str, folders), *more, "--format", "jsonl", "--quiet",
            "--allow-unsupported"]
    run = subprocess.run(line, capture_output=True, text=True)
    wrong, count = {}, 0
    for text in run.stdout.splitlines():
        record = json.loads(text)
        if "subject" not in record:
            continue
        count += 1
        if record["status"] != "passed":
            reason = f"{record['status']}: {record.get('reason', '')}"
            wrong.setdefault(record["subject"], []).append(reason)
    if count == 0:
        sys.exit(f"{' '.join(line)}: exit {run.returncode}: {run.stderr[-500:]}")
    return wrong, count


def failures(program, folders):
    """Lines about models that passed as they are, and do not when they are converted."""
    before, _ = statuses(program, folders)
    after, count = statuses(program, folders, "--transform", "opset")
    wrong = [f"{model}: {reason}" for model, reasons in after.items() for reason in reasons
             if model not in before and not any(word in model for word in EXCEPT)]
    return wrong, count, len(before)


def main():
    program, chosen = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        cases = old_opset_cases.Cases(pathlib.Path(folder))
        for add in old_opset_cases.EVERY:
            add(cases)
        own = [cases.folder / name for name in chosen] or [cases.folder]
        wrong, count, unfit = failures(program, own)
        if unfit:
            wrong.append(f"{unfit} models of the cases do not pass as they are")
    older = os.environ.get("D5_OLDER_ONNX_CASES", "")
    if older and not chosen:
        kinds = {model.parents[1] for model in pathlib.Path(older).glob("*/*/model.onnx")}
        more, further, others = failures(program, sorted(kinds))
        wrong, count, unfit = wrong + more, count + further, unfit + others
    print("\n".join([*wrong, f"{count} outputs of old models, {len(wrong)} wrong after conversion; "
                     f"{unfit} models do not pass as they are"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
