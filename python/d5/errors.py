# SPDX-License-Identifier: Apache-2.0
"""What d5 raises: each is d5.Error, and the exception of Python that fits."""

import builtins


class Error(Exception):
    """Base of all."""


class ShapeError(Error, builtins.ValueError):
    """Sizes that do not fit; the message has both."""


class TypeError(Error, builtins.TypeError):
    """An element type, or a Python type, that is not the expected one."""


class ValueError(Error, builtins.ValueError):
    """A value out of its range, or a call out of its time."""


class NotFound(Error, LookupError):
    """A name that nobody knows; the message lists the nearest."""


class Unsupported(Error, NotImplementedError):
    """What cannot be done here, with the reason: who is asked next, or what to install."""


class IoError(Error, OSError):
    """A file or a network that failed."""


class FormatError(Error, builtins.ValueError):
    """A file that is not what it claims to be."""


class MemoryError(Error, builtins.MemoryError):
    """A budget that would be exceeded, or memory that there is not."""


class NumericError(Error, ArithmeticError):
    """NaN or infinity where training cannot go on."""


class CommunicationError(Error, ConnectionError):
    """A rank that failed, or a call that other ranks do not share."""
