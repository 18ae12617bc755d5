# SPDX-License-Identifier: Apache-2.0
"""Writes what torch.optim makes of a sequence of gradients, for torch_optimizer_test.

    torch_trajectories.py FOLDER STEPS

FOLDER/index.txt has a line a case: file, element type, d5's optimizer, its settings. A case's file
holds float64: the first parameters, then for every step the gradients and the parameters after it.
"""
import pathlib
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(3)

ELEMENTS = 17  # two parameters: 3x4 and 5
CASES = [
    ("sgd", {}, torch.optim.SGD, {}),
    ("sgd", {"weight_decay": 0.01}, torch.optim.SGD, {"weight_decay": 0.01}),
    ("momentum", {"momentum": 0.9}, torch.optim.SGD, {"momentum": 0.9}),
    ("momentum", {"momentum": 0.8, "weight_decay": 0.01}, torch.optim.SGD,
     {"momentum": 0.8, "weight_decay": 0.01}),
    ("momentum", {"momentum": 0.9, "weight_decay": 0.01, "nesterov": "true"}, torch.optim.SGD,
     {"momentum": 0.9, "weight_decay": 0.01, "nesterov": True}),
    ("adam", {}, torch.optim.Adam, {}),
    ("adam", {"beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3}, torch.optim.Adam,
     {"betas": (0.7, 0.95), "eps": 1e-3}),
    ("adam", {"weight_decay": 0.02}, torch.optim.Adam, {"weight_decay": 0.02}),
]


def main() -> None:
    folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(1)
    index = []
    for dtype in (torch.float32, torch.float64):
        for number, (name, settings, optimizer_class, options) in enumerate(CASES):
            random = torch.Generator().manual_seed(number)
            start = torch.randn(ELEMENTS, generator=random, dtype=dtype)
            parameters = [start[:12].reshape(3, 4).clone(), start[12:].clone()]
            for parameter in parameters:
                parameter.requires_grad_()
            optimizer = optimizer_class(parameters, lr=0.01, **options)
            record = [start]
            for _ in range(steps):
                gradient = torch.randn(ELEMENTS, generator=random, dtype=dtype)
                parameters[0].grad = gradient[:12].reshape(3, 4).clone()
                parameters[1].grad = gradient[12:].clone()
                optimizer.step()
                record.append(gradient)
                record.append(torch.cat([p.detach().flatten() for p in parameters]))
            file = f"{name}-{number}-{str(dtype).split('.')[1]}.bin"
            numpy.stack([r.double().numpy() for r in record]).tofile(folder / file)
            words = " ".join(f"{k}={v}" for k, v in {"learning_rate": 0.01, **settings}.items())
            index.append(f"{file} {str(dtype).split('.')[1]} {name} {words}")
    (folder / "index.txt").write_text("\n".join(index) + "\n")


main()
