# SPDX-License-Identifier: Apache-2.0
"""Update rules as their papers write them, in NumPy and float64, for torch_trajectories.py.

Each is made with its options under d5's names, and `step(parameters, gradients)` changes a list of
arrays in place. `seen` gives what tests see.
"""
import numpy as np


class Rule:
    def __init__(self, **options):
        self.options = options
        self.t = 0
        self.memory = None

    def __getattr__(self, name):
        return self.__dict__["options"][name]

    def gradient(self, parameters, noise):
        """The gradient of the next step: most rules use the one that they are given."""
        return noise

    def step(self, parameters, gradients):
        self.t += 1
        if self.memory is None:
            self.memory = [self.begin(w) for w in parameters]
        for w, g, memory in zip(parameters, gradients, self.memory):
            self.update(w, g, memory)

    def begin(self, w):
        return {}

    def seen(self, parameters):
        return parameters


class Lion(Rule):
    """Chen et al. (2023), algorithm 2."""

    def begin(self, w):
        return {"m": np.zeros_like(w)}

    def update(self, w, g, memory):
        m = memory["m"]
        c = self.beta1 * m + (1 - self.beta1) * g
        w -= self.learning_rate * (np.sign(c) + self.weight_decay * w)
        memory["m"] = self.beta2 * m + (1 - self.beta2) * g


class FrozenAdam(Rule):
    """Tang et al. (2021), algorithm 1 without compression, with Adam's corrections."""

    def begin(self, w):
        return {"m": np.zeros_like(w), "v": np.zeros_like(w)}

    def update(self, w, g, memory):
        slope = g + self.weight_decay * w
        memory["m"] = self.beta1 * memory["m"] + (1 - self.beta1) * slope
        if self.t <= self.warm_up:
            memory["v"] = self.beta2 * memory["v"] + (1 - self.beta2) * slope ** 2
            memory["root"] = np.sqrt(memory["v"] / (1 - self.beta2 ** self.t))
        corrected = memory["m"] / (1 - self.beta1 ** self.t)
        w -= self.learning_rate * corrected / (memory["root"] + self.epsilon)


class Lars(Rule):
    """You, Gitman and Ginsburg (2017), algorithm 1."""

    def begin(self, w):
        return {"v": np.zeros_like(w)}

    def update(self, w, g, memory):
        size, slope = np.linalg.norm(w), np.linalg.norm(g)
        rate = self.trust_coefficient * size / (slope + self.weight_decay * size)
        if size == 0 or slope == 0:
            rate = 1
        memory["v"] = self.momentum * memory["v"] + self.learning_rate * rate * (
            g + self.weight_decay * w)
        w -= memory["v"]


class Lamb(Rule):
    """You et al. (2020), algorithm 2, phi(z) = z."""

    def begin(self, w):
        return {"m": np.zeros_like(w), "v": np.zeros_like(w)}

    def update(self, w, g, memory):
        memory["m"] = self.beta1 * memory["m"] + (1 - self.beta1) * g
        memory["v"] = self.beta2 * memory["v"] + (1 - self.beta2) * g**2
        m = memory["m"] / (1 - self.beta1**self.t)
        v = memory["v"] / (1 - self.beta2**self.t)
        r = m / (np.sqrt(v) + self.epsilon) + self.weight_decay * w
        size, length = np.linalg.norm(w), np.linalg.norm(r)
        w -= self.learning_rate * (size / length if size and length else 1) * r


def power_of(matrix, exponent):
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(values**exponent) @ vectors.T


class Shampoo(Rule):
    """Gupta, Koren and Singer (2018), algorithms 1 and 2; lengths of Anil et al. (2020)."""

    def begin(self, w):
        rows = w.shape[0]
        memory = {"L": self.epsilon * np.eye(rows), "A": np.zeros_like(w)}
        if w.ndim > 1:
            memory["R"] = self.epsilon * np.eye(w.size // rows)
        return memory

    def side(self, memory, name, products, exponent):
        """The root of one side's sum: of the whole one every few steps, of a diagonal always."""
        whole = len(products) <= self.largest_side
        memory[name] += products if whole else np.diag(np.diag(products))
        if not whole or (self.t - 1) % self.every == 0:
            memory[name + " root"] = power_of(memory[name], exponent)
        return memory[name + " root"]

    def update(self, w, g, memory):
        g = g + self.weight_decay * w
        G = g.reshape(w.shape[0], -1)
        direction = self.side(memory, "L", G @ G.T, -0.25 if w.ndim > 1 else -0.5) @ G
        if w.ndim > 1:
            direction = direction @ self.side(memory, "R", G.T @ G, -0.25)
        memory["A"] += g**2
        if self.graft == "adagrad":
            step = g / (np.sqrt(memory["A"]) + self.graft_epsilon)
            direction *= np.linalg.norm(step) / np.linalg.norm(direction)
        elif self.graft == "sgd":
            direction *= np.linalg.norm(g) / np.linalg.norm(direction)
        w -= self.learning_rate * direction.reshape(w.shape)


class PaperAdafactor(Rule):
    """Shazeer and Stern (2018), algorithms 4 and 5, with relative step sizes."""

    def begin(self, w):
        return {"R": 0.0, "C": 0.0, "V": 0.0}

    def update(self, w, g, memory):
        share = self.t**-0.8
        square = g**2 + 1e-30
        if w.ndim > 1:
            memory["R"] = (1 - share) * memory["R"] + share * square.sum(-1, keepdims=True)
            memory["C"] = (1 - share) * memory["C"] + share * square.sum(-2, keepdims=True)
            V = memory["R"] @ memory["C"] / memory["R"].sum(-2, keepdims=True)
        else:
            V = memory["V"] = (1 - share) * memory["V"] + share * square
        U = g / np.sqrt(V)
        rms = lambda x: np.sqrt(np.mean(x**2))
        U /= max(1, rms(U))
        w -= max(1e-3, rms(w)) * min(1e-2, 1 / np.sqrt(self.t)) * U


class ScheduleFreeSgd(Rule):
    """Defazio et al. (2024), algorithm 1, with x, y and z; weights as in the authors' program."""

    def begin(self, w):
        self.largest = self.weights = 0.0
        return {"x": w.copy(), "z": w.copy()}

    def step(self, parameters, gradients):
        if self.memory is None:
            self.memory = [self.begin(w) for w in parameters]
        self.t += 1
        self.rate = self.learning_rate * min(1, self.t / max(1, self.warmup_steps))
        self.largest = max(self.largest, self.rate)
        weight = self.t**self.step_power * self.largest**self.rate_power
        self.weights += weight
        self.c = weight / self.weights
        for w, g, memory in zip(parameters, gradients, self.memory):
            memory["z"] = memory["z"] - self.rate * self.slope(w, g, memory)
            memory["x"] = (1 - self.c) * memory["x"] + self.c * memory["z"]
            w[...] = (1 - self.beta) * memory["z"] + self.beta * memory["x"]

    @property
    def beta(self):
        return self.momentum

    def slope(self, y, g, memory):
        return g + self.weight_decay * y

    def seen(self, parameters):
        return [memory["x"] for memory in self.memory]


class ScheduleFreeAdamW(ScheduleFreeSgd):
    """The same with AdamW's denominator."""

    @property
    def beta(self):
        return self.beta1

    def slope(self, y, g, memory):
        memory["v"] = self.beta2 * memory.get("v", 0) + (1 - self.beta2) * g**2
        root = np.sqrt(memory["v"] / (1 - self.beta2**self.t))
        return g / (root + self.epsilon) + self.weight_decay * y


class Accelegrad(Rule):
    """Levy, Yurtsever and Cevher (2018), algorithm 1, whole space."""

    def step(self, parameters, gradients):
        if self.memory is None:
            self.y = [w.copy() for w in parameters]
            self.z = [w.copy() for w in parameters]
            self.memory = [0.0] * len(parameters)
        alpha = self.alpha(self.t)
        for i, g in enumerate(gradients):
            self.memory[i] += alpha**2 * np.sum(g**2)
        for i, (w, g) in enumerate(zip(parameters, gradients)):
            total = self.memory[i] if self.per_parameter == "true" else sum(self.memory)
            eta = 2 * self.diameter / np.sqrt(self.gradient_bound**2 + total)
            self.z[i] = self.z[i] - alpha * eta * g
            self.y[i] = w - eta * g
            tau = 1 / self.alpha(self.t + 1)
            w[...] = tau * self.z[i] + (1 - tau) * self.y[i]
        self.t += 1

    @staticmethod
    def alpha(t):
        return 1 if t <= 2 else (t + 1) / 4

    def seen(self, parameters):
        return self.y


class Lbfgs(Rule):
    """Liu and Nocedal (1989), the two loops, with steps of a given length; the first is as short as
    torch's. The gradient is that of a bowl: changes of noise are no curvature.
    """

    def gradient(self, parameters, noise):
        return np.linspace(0.5, 2, noise.size) * np.concatenate([w.ravel() for w in parameters])

    def step(self, parameters, gradients):
        self.t += 1
        g = np.concatenate([part.ravel() for part in gradients])
        if self.memory is None:
            self.memory, self.scale = [], 1.0
            length = self.learning_rate * min(1, 1 / np.abs(g).sum())
        else:
            length = self.learning_rate
            s, y = self.s, g - self.g
            if s @ y > 1e-10:
                self.memory = [*self.memory, (s, y)][-self.history:]
                self.scale = s @ y / (y @ y)
        q, shares = g, []
        for s, y in reversed(self.memory):
            shares.append(s @ q / (s @ y))
            q = q - shares[-1] * y
        q = self.scale * q
        for s, y in self.memory:
            q = q + (shares.pop() - y @ q / (s @ y)) * s
        self.g, self.s = g, -length * q
        begin = 0
        for w in parameters:
            w += self.s[begin:begin + w.size].reshape(w.shape)
            begin += w.size
