// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include <memory>
#include <optional>

#include "bindings.hpp"
#include "d5/level2_training/training/trainer.hpp"

namespace d5::python {

/// reader(name, gradient, factor)
using ReadGradient = py::typing::Callable<void(py::str, Tensor, double)>;

/// Makes a function in Python the optimizer's reader of gradients; none ends it.
void read_gradients(const std::shared_ptr<Optimizer>& optimizer,
                    const std::optional<ReadGradient>& reader);
/// Throws: ValueError, if a function in Python reads the optimizer's gradients, and the metric
/// gradient_norm of the trainer would replace it. Call with the GIL.
void expect_one_reader(Trainer& trainer);

}  // namespace d5::python
