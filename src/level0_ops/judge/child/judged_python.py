# SPDX-License-Identifier: Apache-2.0
"""The process of a judged source in Python: the twin of judged_kernel.cpp, with the same protocol.

usage: judged_python.py CONFINEMENT    the library with `d5_confine`; a socket is the standard input
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import socket
import struct
import sys
from typing import Any

import numpy as np

SOURCE = "/judged/kernel.so"  # the judge opens the source under this name
MOST_TENSORS, MOST_DIMS, MOST_TEXT, MOST_ATTRIBUTE_BYTES = 128, 16, 256, 1 << 16
GUARD_BYTES = 16 * 4096
NOTHING, PREPARE, BACKWARD = 0, 2, 4  # orders
OK, OTHER_ERROR, UNSUPPORTED = 0, 5, 4  # d5_status
TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}


class Placed(ctypes.Structure):
    _fields_ = [
        ("page_offset", ctypes.c_uint64),
        ("page_bytes", ctypes.c_uint64),
        ("lead_bytes", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("dims", ctypes.c_int64 * MOST_DIMS),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


class Orders(ctypes.Structure):
    _fields_ = [
        ("order", ctypes.c_int32),
        ("most_threads", ctypes.c_int32),
        ("number", ctypes.c_uint64),
        ("case_index", ctypes.c_int32),
        ("opset", ctypes.c_int32),
        ("name", ctypes.c_char * MOST_TEXT),
        ("input_count", ctypes.c_uint32),
        ("output_count", ctypes.c_uint32),
        ("attribute_count", ctypes.c_uint32),
        ("attribute_bytes", ctypes.c_uint32),
        ("tensors", Placed * MOST_TENSORS),
        ("tensor_count", ctypes.c_uint32),
        ("read_count", ctypes.c_uint32),
        ("attributes", ctypes.c_char * MOST_ATTRIBUTE_BYTES),
    ]


class Answers(ctypes.Structure):
    _fields_ = [
        ("returned", ctypes.c_uint64),
        ("status", ctypes.c_int32),
        ("landlock", ctypes.c_int32),
        ("fault_address", ctypes.c_uint64),
        ("message", ctypes.c_char * 512),
    ]


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
MAP_FIXED, MAP_NORESERVE, MAP_POPULATE = 0x10, 0x4000, 0x8000
FAILED = ctypes.c_void_p(-1).value


def stop() -> None:
    """Hands over to the judge, which freezes all threads until its next order."""
    os.kill(os.getpid(), signal.SIGSTOP)


class TensorPages:
    """The pages of a tensor at its drawn address, between inaccessible ones, as an array."""

    def __init__(self, placed: Placed, descriptor: int, is_read: bool) -> None:
        self.bytes = placed.page_bytes + 2 * GUARD_BYTES
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        self.whole = LIBC.mmap(placed.address, self.bytes, 0, flags, -1, 0)
        if self.whole == FAILED:
            raise MemoryError("its limit of memory leaves no room for tensors")
        inner = LIBC.mmap(
            self.whole + GUARD_BYTES,
            placed.page_bytes,
            mmap.PROT_READ if is_read else mmap.PROT_READ | mmap.PROT_WRITE,
            mmap.MAP_SHARED | MAP_FIXED | MAP_POPULATE,
            descriptor,
            placed.page_offset,
        )
        if inner == FAILED:
            raise MemoryError("its limit of memory leaves no room for tensors")
        shape = tuple(placed.dims[: placed.rank])
        kind = np.dtype(TYPES[placed.dtype])
        count = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        memory = (ctypes.c_char * count).from_address(inner + placed.lead_bytes)
        self.array: np.ndarray[Any, Any] | None = np.frombuffer(memoryview(memory), kind).reshape(shape)
        self.array.flags.writeable = not is_read

    def unmap(self) -> None:
        self.array = None
        LIBC.munmap(self.whole, self.bytes)


def attributes_of(orders: Orders) -> dict[str, Any]:
    """By name; see protocol.hpp."""
    data = ctypes.string_at(ctypes.addressof(orders) + Orders.attributes.offset, orders.attribute_bytes)
    at = 0
    found: dict[str, Any] = {}

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        value = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    def text() -> str:
        nonlocal at
        (length,) = take("=I")
        at += length
        return data[at - length : at].decode()

    for _ in range(orders.attribute_count):
        kind, count = take("=II")
        name = text()
        values: list[Any]
        if kind in (1, 4):
            values = list(take(f"={count}q"))
        elif kind in (2, 5):
            values = list(take(f"={count}f"))
        else:
            values = [text() for _ in range(count)]
        found[name] = values if kind > 3 else values[0]
    return found


def serve(orders: Orders, answers: Answers, inputs: int, outputs: int, confinement: ctypes.CDLL) -> None:
    connection = socket.socket(fileno=0)
    listener = confinement.d5_confine(orders.most_threads)
    if listener < 0:
        answers.status, answers.message = UNSUPPORTED, b"this system has no seccomp filter with a listener"
        os._exit(1)
    socket.send_fds(connection, [b"-"], [listener])
    os.close(listener)
    connection.close()
    with open(SOURCE) as file:
        text = file.read()
    names: dict[str, Any] = {"__name__": "judged"}
    exec(compile(text, "judged source", "exec"), names)
    pages: list[TensorPages] = []
    arrays: list[Any] = []
    attributes: dict[str, Any] = {}
    while True:
        stop()
        name = orders.name.decode()
        if orders.order == PREPARE:
            arrays = []
            for page in pages:
                page.unmap()
            pages, arrays, attributes = [], [], attributes_of(orders)
            for i in range(orders.tensor_count):
                placed, is_read = orders.tensors[i], i < orders.read_count
                if placed.dtype == 0:
                    arrays.append(None)
                    continue
                pages.append(TensorPages(placed, inputs if is_read else outputs, is_read))
                arrays.append(pages[-1].array)
            continue
        function = names.get(name if orders.order != BACKWARD else f"{name}_backward")
        if function is None:
            answers.status, answers.message = OTHER_ERROR, b"it has no function of the case's name"
            os._exit(1)
        function(arrays[: orders.read_count], arrays[orders.read_count :], **attributes)
        answers.status = OK
        answers.returned = orders.number


def main() -> None:
    message, passed, _, _ = socket.recv_fds(socket.socket(fileno=os.dup(0)), 1, 4)
    if len(message) != 1 or len(passed) != 4:
        os._exit(2)
    orders_file, answers_file, inputs, outputs = passed
    sizes = [os.fstat(file).st_size for file in (orders_file, answers_file)]
    if sizes != [ctypes.sizeof(Orders), ctypes.sizeof(Answers)]:  # another protocol.hpp
        os._exit(2)
    # Orders cannot be written, so that ctypes takes their address, and no buffer.
    read = LIBC.mmap(None, ctypes.sizeof(Orders), mmap.PROT_READ, mmap.MAP_SHARED, orders_file, 0)
    both = mmap.PROT_READ | mmap.PROT_WRITE
    written = LIBC.mmap(None, ctypes.sizeof(Answers), both, mmap.MAP_SHARED, answers_file, 0)
    orders, answers = Orders.from_address(read), Answers.from_address(written)
    os.close(orders_file)
    os.close(answers_file)
    for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, 64)):
        resource.setrlimit(limit, (most, most))
    confinement = ctypes.CDLL(sys.argv[1])
    answers.landlock = confinement.d5_seal_files()
    stop()
    while orders.order == NOTHING:
        stop()
    try:
        serve(orders, answers, inputs, outputs, confinement)
    except BaseException as error:  # also SystemExit: the judge reads the message
        answers.status, answers.message = OTHER_ERROR, f"{type(error).__name__}: {error}".encode()[:500]
        os._exit(1)


main()
