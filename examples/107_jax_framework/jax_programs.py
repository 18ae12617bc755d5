# SPDX-License-Identifier: Apache-2.0
"""Programs that XLA compiles, and runs on d5's memory."""

from typing import Any

import d5
import jax
from jax_planning import Function, MakeFunction, Plan, expect

ArrayType: Any = jax.ShapeDtypeStruct
TYPES = {"float16", "bfloat16", "float32", "float64", "bool"}
TYPES |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

#: What XLA compiled, by program: layers of the same shapes share one.
programs: dict[Any, Function] = {}


def compiled(function: Function, *arguments: Any) -> Function:
    try:
        lowered = jax.jit(function).lower(*arguments)
    except (NotImplementedError, TypeError, ValueError) as error:
        raise d5.Unsupported(f"JAX does not trace it: {error}") from error
    program = (lowered.as_text(), lowered.in_tree, lowered.out_tree)
    if program not in programs:
        programs[program] = lowered.compile()
    return programs[program]


def node_function(plan: Plan, make: MakeFunction) -> Function:
    """The node as a function of its inputs, None for an omitted one; it returns a tuple."""
    types = [plan.dtype(i) for i in range(plan.input_count) if plan.has_input(i)]
    types += [plan.output_dtype(k) for k in range(plan.output_count)]
    expect(TYPES.issuperset(types), f"element types {sorted({*types} - TYPES)}")
    function = make(plan)

    def run(*inputs: Any) -> Any:
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return tuple(y.astype(plan.output_dtype(k)) for k, y in enumerate(outputs))

    return run


def to_jax(tensor: Any) -> Any:
    return None if tensor is None else jax.dlpack.from_dlpack(tensor)
