# SPDX-License-Identifier: Apache-2.0
"""d5: benchmarks and validates deep learning: operators, networks, training, clusters, services.

    import d5
    network = d5.model("lenet")
    executor = d5.executor(network, ["torch", "reference"])
    outputs = executor.inference({"image": images})

NumPy and torch arrays are exchanged without a copy (DLPack).
"""

import atexit as _atexit
import builtins as _builtins
import typing as _typing

from d5 import op as op
from d5._d5 import *  # noqa: F403
from d5._d5 import __version__ as __version__
from d5._d5 import _end_long_calls
from d5 import _d5 as _cpp
from d5 import _mappings as _mappings
from d5 import _named_values as _named_values
from d5 import _nearest as _nearest
from d5 import _reprs as _reprs
from d5 import _words as _words

globals().update(_words.functions_in_words(_cpp))
_reprs.show_all(_cpp)
_nearest.answer_attributes(_cpp)
_named_values.guard_copies(_cpp)
_nearest.keep_attributes(_cpp.Sampler)

from d5._bases import Event as Event
from d5._bases import Metric as Metric
from d5._bases import Operator as Operator
from d5._bases import Optimizer as Optimizer
from d5._bases import Schedule as Schedule
from d5._bases import StepModifier as StepModifier
from d5._bases import ThreeStepOptimizer as ThreeStepOptimizer
from d5._bases import UpdateRule as UpdateRule
from d5._bases import operator as operator
from d5._entries import register as register
from d5._framework import Framework as Framework
from d5._framework import Kernel as Kernel
from d5._isolation import bench as bench
from d5._isolation import check_operator as check_operator
from d5._isolation import reduce as reduce
from d5._isolation import test_forward as test_forward
from d5._isolation import test_gradient as test_gradient
from d5._launching import launch as launch
from d5._launching import train as train
from d5 import logs as logs
from d5._live_curves import LiveCurves as LiveCurves
from d5._measurements import Measurements as Measurements
from d5._notebook import Environment as Environment
from d5._notebook import environment as environment
from d5._notebook import show_in_notebooks as _show_in_notebooks
from d5._plotting import draw as draw
from d5._rank_bases import DistributedOptimizer as DistributedOptimizer
from d5._rank_bases import GradientCompressor as GradientCompressor
from d5._rank_bases import GradientExchange as GradientExchange
from d5._scaling import scale as scale
from d5._training_result import TrainingResult as TrainingResult
from d5._visitor import OperatorVisitor as OperatorVisitor
from d5.errors import CommunicationError as CommunicationError
from d5.errors import Error as Error
from d5.errors import FormatError as FormatError
from d5.errors import IoError as IoError
from d5.errors import MemoryError as MemoryError
from d5.errors import NotFound as NotFound
from d5.errors import NumericError as NumericError
from d5.errors import ShapeError as ShapeError
from d5.errors import TypeError as TypeError
from d5.errors import UnknownOption as UnknownOption
from d5.errors import Unsupported as Unsupported
from d5.errors import ValueError as ValueError

if "prediction" not in _cpp._left_out():
    from d5._overlap import overlap_map as overlap_map
    from d5._overlap import overlap_search as overlap_search
    from d5._predicting import calibrate as calibrate
    from d5._predicting import predict as predict
if "serving" not in _cpp._left_out():
    from d5._client import Client as Client
if _typing.TYPE_CHECKING:
    from d5 import nodes as nodes
else:  # hides missing names from type checkers
    from d5._left_out import explain as __getattr__

    # `from d5 import *` leaves Python's own names alone.
    __all__ = [name for name in globals() if not name.startswith("_") and not hasattr(_builtins, name)]

_show_in_notebooks()
_atexit.register(_end_long_calls)
