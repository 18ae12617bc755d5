#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Losses when a server and its agents are killed.

usage: serving_crashes.py [--program build/release/bin/d5] [--kills 50] [--evaluations 200] [--agents 2] [--seed 0]

Kills server and agents by SIGKILL, `--kills` moments each, drawn by `--seed`, while the evaluations run, and
restarts them. Exit status 0 if each evaluation is done and has one run with all its records, or is quarantined without
a run because its agent was killed within it three times, which is the server's rule. Each kill of an agent may lose one
part at most, and nothing else may be lost. Otherwise the exit status is 1.
"""

import argparse
import concurrent.futures
import glob
import pathlib
import random
import signal
import sys
import tempfile
import time

from serving_place import Place, end, evaluation

MOST_LOSSES = 3  # losses of a part before its quarantine (JobQueue::Options)
QUERIES = 200  # 1 ms each, so that an evaluation is long enough to be hit
SPACED = 3  # evaluations that end between two kills of agents, if more follow


def wait_for_done(place: Place, count: int) -> int:
    """Waits until this many are done, or progress stops; returns the number."""
    end = time.monotonic() + 60
    while True:
        states = [state for (state,) in place.rows("SELECT state FROM job")]
        done = states.count("done")
        if done >= count or time.monotonic() > end or not {"queued", "leased", "running"} & set(states):
            return done
        time.sleep(0.1)


def left_in_spools(place: Place) -> list[pathlib.Path]:
    """Folders of attempts. They may disappear meanwhile, which makes Path.rglob fail."""
    return [pathlib.Path(file).parent for file in glob.glob(f"{place.folder}/home/**/results.db", recursive=True)]


def wait_for_spools(place: Place) -> None:
    """Lets an agent send what a killed one left. An agent that ends at its start leaves that to the next."""
    end = time.monotonic() + 60
    while left_in_spools(place) and time.monotonic() < end:
        time.sleep(0.1)


def crashes(place: Place, kills: int, evaluations: int, agents: int, seed: int) -> int:
    chance = random.Random(seed)
    server, workers = place.serve(), [place.agent(number) for number in range(agents)]
    place.wait_for_agents(agents)
    pool = concurrent.futures.ThreadPoolExecutor(1)
    wanted = pool.submit(lambda: [place.submit(evaluation(number, "sleep", "closed_loop", QUERIES))
                                  for number in range(evaluations)])
    victims = ["server"] * kills + ["agent"] * kills
    chance.shuffle(victims)
    done = -SPACED
    for victim in victims:
        time.sleep(chance.uniform(0.05, 1.0))
        if victim == "server":
            server.kill()
            server.wait()
            server = place.serve()
        else:
            # Spread the kills over evaluations: three losses quarantine one, as they should.
            done = wait_for_done(place, done + SPACED)
            number = chance.randrange(agents)
            workers[number].kill()
            workers[number].wait()
            workers[number] = place.agent(number)
    jobs = wanted.result()
    states = place.wait_for(jobs, 30 + 10 * evaluations)
    wait_for_spools(place)
    end(workers)  # before the server, so that each gets the acknowledgement of its records
    end([server])

    runs = place.rows("SELECT r.id, (SELECT COUNT(*) FROM measurement m WHERE m.run = r.id), (SELECT SUM(count) FROM "
                      "query_block q WHERE q.run = r.id) FROM run r")
    records = {count for _, count, _ in runs}
    over = sum(state == "done" for state in states.values())
    attempts, lost = place.rows("SELECT SUM(attempt), SUM(losses) FROM job_part")[0]
    print(f"{kills} kills of the server, {kills} of agents: {len(set(jobs))} jobs, {over} done, "
          f"{len(runs)} runs with {sorted(records)} records each, {attempts} attempts, {lost} lost")
    by_rule = 0
    for job, state, losses, reason in place.rows(
            "SELECT job, state, losses, reason FROM job_part WHERE state <> 'done'"):
        by_rule += state == "quarantined" and losses == MOST_LOSSES
        print(f"{job} is {state} after {losses} losses: {reason}")
    left = left_in_spools(place)
    for attempt in left:
        print(f"left in a spool: {sorted(file.name for file in attempt.iterdir())}")
    right = (len(set(jobs)) == evaluations and over + by_rule == evaluations and len(runs) == over
             and len(records) <= 1 and lost <= kills and not left)
    print("none lost, none twice" if right else "WRONG")
    return 0 if right else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/bin/d5"))
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--agents", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, Place(options.program, pathlib.Path(folder)) as place:
        return crashes(place, options.kills, options.evaluations, options.agents, options.seed)


if __name__ == "__main__":
    sys.exit(main())
