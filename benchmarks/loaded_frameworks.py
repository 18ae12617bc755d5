#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost of loaded but unused frameworks: a network in one framework, in a process that loaded only that framework, compared
with a process that has loaded every framework of this machine and run each once. Both processes live through the whole
measurement and take turns.

usage: loaded_frameworks.py [MODEL] [--framework torch] [--batch 1,16] [--threads N] [--samples N] [--out FILE.json]
"""

import argparse
import multiprocessing
import time

import d5


def serve(pipe, model, framework, batch, threads, others):
    """Runs the network the requested number of times, and reports the end."""
    d5.set_threads(threads)
    d5.pin_threads()
    network = d5.model(model)
    inputs = d5.random_inputs(network, batch=batch)
    loaded = []
    for other in others:
        try:
            d5.executor(d5.model(model), [other, "reference"]).inference(inputs)
            loaded.append(other)
        except d5.Error as error:
            print(f"{other} is left out: {error}", flush=True)
    executor = d5.executor(network, [framework])
    executor.inference(inputs)
    pipe.send(loaded)
    while repetitions := pipe.recv():
        for _ in range(repetitions):
            executor.inference(inputs)
        pipe.send(None)


class Process:
    def __init__(self, *settings):
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(target=serve, args=(other_end, *settings))
        self._process.start()
        self.loaded = self._pipe.recv()
        self.repetitions = 1

    def run(self):
        self._pipe.send(self.repetitions)
        self._pipe.recv()

    def end(self):
        self._pipe.send(0)
        self._process.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", nargs="?", default="lenet")
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--batch", default="1,16", help="sizes, separated by commas")
    parser.add_argument("--threads", type=int, default=d5.threads())
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--out", help="a results file")
    arguments = parser.parse_args()
    others = [name for name in d5.frameworks() if name != arguments.framework]
    rows = []
    for batch in map(int, arguments.batch.split(",")):
        settings = (arguments.model, arguments.framework, batch, arguments.threads)
        alone, beside = Process(*settings, []), Process(*settings, others)
        begin = time.perf_counter()
        alone.run()
        # Enough runs that the request over a pipe, about 0.1 ms, is below 1%.
        alone.repetitions = beside.repetitions = max(1, round(0.02 / (time.perf_counter() - begin)))
        rows += d5.measure({f"{arguments.framework} alone": alone.run,
                            f"beside {', '.join(beside.loaded)}": beside.run},
                           name=f"{alone.repetitions} x {arguments.model} batch {batch}", samples=arguments.samples)
        alone.end()
        beside.end()
    print(d5.to_table(rows))
    if arguments.out:
        d5.write_results(rows, arguments.out)


if __name__ == "__main__":
    main()
