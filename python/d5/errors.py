# SPDX-License-Identifier: Apache-2.0
"""d5's exceptions: each derives from d5.Error and from the matching Python exception."""

import builtins


class Error(Exception):
    """Base class of all."""


class ShapeError(Error, builtins.ValueError):
    """Sizes do not fit; the message has both."""


class TypeError(Error, builtins.TypeError):
    """An element type, or a Python type, differs from the expected one."""


class ValueError(Error, builtins.ValueError):
    """A value is out of its range, or a call comes at a wrong time."""


class NotFound(Error, KeyError):
    """A name is unknown; the message lists the nearest."""

    def __str__(self) -> str:  # KeyError shows its argument in quotes
        return Exception.__str__(self)


class UnknownOption(NotFound, TypeError):
    """A keyword, an option, a hook or an operator's attribute that there is not; the message has the
    nearest."""


class Unsupported(Error, NotImplementedError):
    """Something is not supported here; the message has the reason, and the way out."""


class IoError(Error, OSError):
    """A file or a network connection failed."""


class FormatError(Error, builtins.ValueError):
    """A file does not have the format that it claims."""


class MemoryError(Error, builtins.MemoryError):
    """A memory budget would be exceeded, or there is too little memory."""


class NumericError(Error, ArithmeticError):
    """NaN or infinity where training cannot continue."""


class CommunicationError(Error, ConnectionError):
    """A rank failed, or ranks make different calls."""
