# SPDX-License-Identifier: Apache-2.0
# A framework written in Python: JAX, from the folder beside this file. Networks in it are compared
# with the reference, and one is trained and measured together with other frameworks.
import pathlib
import sys

import d5
import numpy as np

try:
    print(d5.op.load(pathlib.Path(__file__).with_suffix("") / "jax_framework.py"))
except d5.Error as reason:
    if not isinstance(reason.__cause__, ImportError):
        raise
    print("skipped:", reason)
    sys.exit()

frameworks = ["jax", "reference"]
for network, size in (("lenet", (2, 1, 28, 28)), ("resnet-18", (1, 3, 224, 224))):
    image = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    batch = {"image": image, "label": np.zeros(len(image), int)}
    for word in ("jax", "jax:jit"):
        subject, reference = (
            d5.executor(d5.model(network, with_loss=True, seed=1), [name])
            for name in (word, "reference")
        )
        rows = d5.test_executor(subject, reference, batch, loss="loss")
        agree = sum(row.status == "passed" for row in rows)
        print(f"{network} by {word}: {agree} of {len(rows)} outputs and gradients agree")
        assert all(row.status in ("passed", "mistrusted") for row in rows), rows

executor = d5.executor(d5.model("lenet", with_loss=True), frameworks)
optimizer = d5.optimizer("adam", executor, learning_rate=0.002)
train = d5.sampler("shuffle", d5.dataset("mnist").train, batch_size=32)
losses = [float(optimizer.step(batch)["loss"]) for batch, _ in zip(train, range(50))]
print(f"lenet on MNIST: loss {losses[0]:.2f}, after 50 steps {np.mean(losses[-5:]):.2f}")
assert np.mean(losses[-5:]) < losses[0] / 2

others = [name for name in ("torch", "reference") if name in d5.framework_words(["all"])]
print(d5.bench_network("lenet", frameworks=["jax", "jax:jit", *others], batch=16, metrics=["time"]))
