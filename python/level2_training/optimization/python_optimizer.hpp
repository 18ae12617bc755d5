// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

namespace d5::python {

/// Makes an optimizer from an object of d5.Optimizer. Throws: TypeError if it lacks a method.
[[nodiscard]] std::shared_ptr<Optimizer> to_optimizer(const py::object& self,
                                                      std::shared_ptr<GraphExecutor> executor,
                                                      std::string loss);

}  // namespace d5::python
