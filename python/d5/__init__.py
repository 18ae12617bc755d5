# SPDX-License-Identifier: Apache-2.0
"""d5: benchmarking deep learning at four levels.

    import d5
    network = d5.model("lenet")
    executor = d5.executor(network, ["torch", "reference"])
    outputs = executor.inference({"image": images})

Arrays of NumPy and torch go in and out without a copy (DLPack).
"""

from d5._d5 import *  # noqa: F401,F403
from d5._d5 import __version__, register_operator  # noqa: F401


class Operator:
    """Base of an operator written in Python; `attributes` holds its node's.

    `infer` returns one (dtype, shape) an output; left out, the output is like input 0. `forward`
    writes the outputs in place, `backward` the input gradients that `wants_grad`. `flop`, if there is
    one, gets what `infer` gets and returns the arithmetic of a forward run.
    """

    attributes = {}

    def forward(self, context):
        raise NotImplementedError

    def backward(self, context):
        raise NotImplementedError


class Event:
    """Base of an observer written in Python: override the hooks of interest."""

    def before_run(self, direction): ...
    def after_run(self, direction): ...
    def before_node(self, step): ...
    def after_node(self, step): ...
    def gradient_ready(self, parameter, index): ...
    def before_training(self, trainer): ...
    def after_training(self, trainer): ...
    def before_epoch(self, trainer, epoch): ...
    def after_epoch(self, trainer, epoch): ...
    def before_batch(self, trainer, batch): ...
    def after_batch(self, trainer, batch, outputs): ...
    def before_test(self, trainer): ...
    def after_test(self, trainer): ...
    def after_test_batch(self, trainer, batch, outputs): ...

    def wants_stop(self):
        return False


class Optimizer:
    """Base of an optimizer written in Python: `update_rule` changes `parameter.value` in place.

    `state` and `restore` are what a checkpoint keeps and gives back: a dict of arrays, empty for a
    rule that remembers nothing.
    """

    def new_input(self): ...
    def prepare_param(self, parameter): ...

    def update_rule(self, gradient, parameter, index):
        raise NotImplementedError

    def state(self):
        raise NotImplementedError

    def restore(self, state):
        raise NotImplementedError


def operator(name, domain="", since=1):
    """Class decorator: registers an operator of the framework "python".

        @d5.operator("Triple", domain="org.example")
        class Triple(d5.Operator):
            def forward(self, context):
                context.output(0).numpy()[...] = 3 * context.input(0).numpy()
    """

    def register(operator_class):
        register_operator(operator_class, name, domain, since)
        return operator_class

    return register
