// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5::python {

/// Of an object of d5.Schedule. Throws: TypeError for anything else; ValueError for a loss that
/// there is none of.
[[nodiscard]] std::shared_ptr<Schedule> to_schedule(const py::object& object);
/// A hyper-parameter by an object of d5.Schedule (of steps), a name, or a dict with name and
/// settings.
[[nodiscard]] std::shared_ptr<StepModifier> to_scheduled(const std::string& hyper_parameter,
                                                         const py::handle& schedule);

}  // namespace d5::python
