# SPDX-License-Identifier: Apache-2.0
"""Writes how stochastic L-BFGS goes down a sum of squares, for stochastic_lbfgs_test.

    least_squares.py FOLDER

data.bin holds 20 rows of three inputs and a target, float64; ways.bin the parameters after each
step, in batches of 5 and in order. A transcription of algorithm 1 of Moritz et al. (2016), with the
Hessian itself and an H that is multiplied out (Nocedal and Wright, equation 7.16).
"""
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(3)

SAMPLES, BATCH, EPOCHS, RATE, EVERY, HISTORY = 20, 5, 9, 0.1, 3, 2


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    random = np.random.default_rng(5)
    x = random.normal(size=(SAMPLES, 3)) * [1.0, 2.0, 0.5]
    t = x @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=SAMPLES)

    def gradient(w, rows):
        return 2 * x[rows].T @ (x[rows] @ w - t[rows]) / len(rows)

    def inverse(pairs):
        if not pairs:
            return np.eye(3)
        s, y = pairs[-1]
        h = np.eye(3) * (s @ y) / (y @ y)
        for s, y in pairs:
            v = np.eye(3) - np.outer(y, s) / (y @ s)
            h = v.T @ h @ v + np.outer(s, s) / (y @ s)
        return h

    w, anchor, mean = np.zeros(3), None, None
    pairs, last, ways = [], None, []
    for epoch in range(EPOCHS):
        if epoch % 2 == 1:
            mean = gradient(w, np.arange(SAMPLES))
        elif epoch > 0:
            anchor = w
        path = []
        for begin in range(0, SAMPLES, BATCH):
            rows = np.arange(begin, begin + BATCH)
            if epoch == 0:
                w = w - RATE * gradient(w, rows)
            elif epoch % 2 == 0:
                v = gradient(w, rows) - gradient(anchor, rows) + mean
                w = w - RATE * inverse(pairs[-HISTORY:]) @ v
                path.append(w)
                if len(path) % EVERY == 0:
                    u = np.mean(path[-EVERY:], axis=0)
                    if last is not None:
                        s = u - last
                        pairs.append((s, 2 * x[rows].T @ (x[rows] @ s) / len(rows)))
                    last = u
            ways.append(w)
    np.column_stack([x, t]).tofile(folder / "data.bin")
    np.stack(ways).tofile(folder / "ways.bin")


main()
