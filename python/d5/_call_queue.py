# SPDX-License-Identifier: Apache-2.0
"""Calls of d5's communicators on a thread of their own, so that they go on while Python computes."""

import queue
import threading
from collections.abc import Callable

from d5._d5 import StartedCall

_LONGEST_LOOK = 1e-3  # seconds that a call which was just asked for may wait for its start


class CallQueue(threading.Thread):
    """Starts calls in the order in which they are asked for; several are under way at once.

    The communicators are the thread's alone as long as something is under way.
    """

    def __init__(self) -> None:
        super().__init__(name="d5 calls", daemon=True)
        self._asked: queue.SimpleQueue[
            tuple[Callable[[], StartedCall], Callable[[BaseException | None], None]]
        ] = queue.SimpleQueue()
        self.start()

    def ask(self, start: Callable[[], StartedCall], ended: Callable[[BaseException | None], None]) -> None:
        """Calls `start`, and `ended` with what went wrong, or None; both on this thread."""
        self._asked.put((start, ended))

    def run(self) -> None:
        under_way: list[tuple[StartedCall, Callable[[BaseException | None], None]]] = []
        while True:
            try:
                start, ended = self._asked.get(block=not under_way)
            except queue.Empty:
                pass
            else:
                try:
                    under_way.append((start(), ended))
                except Exception as error:
                    ended(error)
                del start, ended
                continue  # all that is asked for begins before anything is waited for
            rest = []
            for place, (call, ended) in enumerate(under_way):
                try:
                    done = call.wait_for(0 if place else _LONGEST_LOOK)
                except Exception as error:
                    ended(error)
                else:
                    if done:
                        ended(None)
                    else:
                        rest.append((call, ended))
            under_way = rest
            call = ended = None  # what is done keeps its tensors no longer
