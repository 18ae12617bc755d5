# SPDX-License-Identifier: Apache-2.0
"""Writes how others go down Rosenbrock's function in float64, for rosenbrock_test.

    torch_rosenbrock.py FOLDER

FOLDER/index.txt has a line a case: file, d5's optimizer, its settings. A case's file holds float64:
a row of parameters before the first step and after each.
"""
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(3)

STARTS = {2: [-1.2, 1.0], 5: [-1.2, 1.0, 0.3, -0.7, 1.9]}


def loss_of(w):
    return (100 * (w[1:] - w[:-1] ** 2) ** 2 + (1 - w[:-1]) ** 2).sum()


def lbfgs(start, steps, **options):
    w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], **options)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(w)
        loss.backward()
        return loss

    rows = [w.detach().numpy().copy()]
    for _ in range(steps):
        optimizer.step(closure)
        rows.append(w.detach().numpy().copy())
    return rows


def slope(w):
    """By hand: no code of anybody's."""
    height = w[1:] - w[:-1] ** 2
    g = numpy.zeros_like(w)
    g[:-1] = -400 * w[:-1] * height - 2 * (1 - w[:-1])
    g[1:] += 200 * height
    return g


def sam(start, steps, rate, rho):
    w = numpy.array(start)
    rows = [w.copy()]
    for _ in range(steps):
        g = slope(w)
        w = w - rate * slope(w + rho * g / numpy.sqrt((g * g).sum()))
        rows.append(w.copy())
    return rows


def lookahead(start, steps, rate, every, share):
    w, slow = numpy.array(start), numpy.array(start)
    rows = [w.copy()]
    for step in range(steps):
        w = w - rate * slope(w)
        if (step + 1) % every == 0:
            slow = slow + share * (w - slow)
            w = slow.copy()
        rows.append(w.copy())
    return rows


CASES = [
    ("lbfgs iterations=4", lambda start: lbfgs(start, 12, max_iter=4, max_eval=25,
                                               line_search_fn="strong_wolfe")),
    ("lbfgs iterations=1",
     lambda start: lbfgs(start, 25, max_iter=1, max_eval=25,
                         line_search_fn="strong_wolfe")),
    ("lbfgs history=3 iterations=2 learning_rate=0.7",
     lambda start: lbfgs(start, 10, lr=0.7, history_size=3, max_iter=2, max_eval=25,
                         line_search_fn="strong_wolfe")),
    ("lbfgs line_search=none learning_rate=0.05 iterations=3",
     lambda start: lbfgs(start, 12, lr=0.05, max_iter=3, max_eval=25)),
    ("sgd learning_rate=0.001 modifiers.0.name=sam modifiers.0.rho=0.01",
     lambda start: sam(start, 60, 0.001, 0.01)),
    ("sgd learning_rate=0.001 modifiers.0.name=lookahead modifiers.0.every=4 modifiers.0.share=0.3",
     lambda start: lookahead(start, 60, 0.001, 4, 0.3)),
]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    index = []
    for dimensions, start in STARTS.items():
        for number, (words, run) in enumerate(CASES):
            file = f"{dimensions}-{number}.bin"
            numpy.stack(run(start)).tofile(folder / file)
            index.append(f"{file} {dimensions} {words}")
    (folder / "index.txt").write_text("\n".join(index) + "\n")


main()
