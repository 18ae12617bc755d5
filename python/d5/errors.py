# SPDX-License-Identifier: Apache-2.0
"""What d5 raises: each is d5.Error, and the exception of Python that fits."""

import builtins


class Error(Exception):
    """Base of all."""


class ShapeError(Error, builtins.ValueError): ...


class TypeError(Error, builtins.TypeError): ...


class ValueError(Error, builtins.ValueError): ...


class NotFound(Error, LookupError):
    """A name that nobody knows; the message lists the nearest."""


class Unsupported(Error, NotImplementedError): ...


class IoError(Error, OSError): ...


class FormatError(Error, builtins.ValueError):
    """A file that is not what it claims to be."""


class MemoryError(Error, builtins.MemoryError): ...


class NumericError(Error, ArithmeticError): ...


class CommunicationError(Error, ConnectionError): ...
