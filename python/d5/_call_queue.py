# SPDX-License-Identifier: Apache-2.0
"""Calls of d5's communicators on a thread of their own, so that they advance while Python computes."""

import atexit
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from d5._d5 import StartedCall

Result = TypeVar("Result")

_LONGEST_LOOK = 1e-3  # seconds that a new call may wait for its start
_LONGEST_END = 3.0  # seconds, like a rank that ends and waits for the others


class CallQueue(threading.Thread):
    """Starts calls in the order in which they are requested; several may be in progress at once.

    The communicators belong to this thread as long as a call is in progress.
    """

    def __init__(self) -> None:
        super().__init__(name="d5 calls", daemon=True)
        self._asked: queue.SimpleQueue[
            tuple[Callable[[], StartedCall | None], Callable[[BaseException | None], None]] | None
        ] = queue.SimpleQueue()
        self._hooks: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._hook_thread = threading.Thread(target=self._run_hooks, name="d5 hooks", daemon=True)
        self.start()
        self._hook_thread.start()
        # A thread that is within C++ when the interpreter ends would end the process.
        atexit.register(self._end)

    def run_hook(self, hook: Callable[[], object], asked_by: threading.Thread) -> None:
        """For `ended`: runs a hook that may request calls and wait for them, one hook after the other.

        Calls that a hook requested end on this thread, because the hook may be waiting for them.
        """
        if asked_by is self._hook_thread:
            hook()
        else:
            self._hooks.put(hook)

    def ask(
        self, start: Callable[[], StartedCall | None], ended: Callable[[BaseException | None], None]
    ) -> None:
        """Calls `start`, then `ended` with the error, or None; both on this thread."""
        self._asked.put((start, ended))

    def run_now(self, call: Callable[[], Result]) -> Result:
        """Returns the result of `call`, which runs on this thread, between calls in progress."""
        future: Future[Result] = Future()

        def ended(error: BaseException | None) -> None:
            if error:
                future.set_exception(error)

        self.ask(lambda: future.set_result(call()), ended)
        return future.result()

    def run(self) -> None:
        under_way: list[tuple[StartedCall, Callable[[BaseException | None], None]]] = []
        while True:
            try:
                asked = self._asked.get(block=not under_way)
            except queue.Empty:
                pass
            else:
                if asked is None:
                    return
                start, ended = asked
                call = None
                try:
                    call = start()
                except Exception as error:
                    ended(error)
                else:
                    if call:
                        under_way.append((call, ended))
                    else:
                        ended(None)
                del asked, start, ended, call
                continue  # starts all requested calls before waiting for any
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
            del call, ended  # releases the tensors of finished calls

    def _run_hooks(self) -> None:
        while (hook := self._hooks.get()) is not None:
            hook()
            del hook

    def _end(self) -> None:
        self._asked.put(None)
        self.join(_LONGEST_END)
        self._hooks.put(None)
        self._hook_thread.join(_LONGEST_END)
