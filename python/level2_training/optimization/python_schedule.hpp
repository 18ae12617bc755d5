// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5::python {

/// Makes a schedule from an object of d5.Schedule. Throws: TypeError for anything else; ValueError
/// for an unknown loss.
[[nodiscard]] std::shared_ptr<Schedule> to_schedule(const py::object& object);
/// Sets a hyper-parameter's schedule from an object of d5.Schedule (over steps), a name, or a dict
/// with name and settings.
[[nodiscard]] std::shared_ptr<StepModifier> to_scheduled(const std::string& hyper_parameter,
                                                         const py::handle& schedule);

}  // namespace d5::python
