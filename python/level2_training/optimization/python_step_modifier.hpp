// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"

namespace d5::python {

/// Makes a modifier from a name, a dict with a name and settings, or an object of d5.StepModifier.
/// Throws: NotFound, ValueError; TypeError for anything else.
[[nodiscard]] std::shared_ptr<StepModifier> to_step_modifier(const py::handle& object);

}  // namespace d5::python
