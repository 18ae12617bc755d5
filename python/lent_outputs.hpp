// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// Outputs that a hook is given: as `from_values`, read-only, and an unknown name is an error with
/// the nearest. Call with the GIL.
[[nodiscard]] inline Values lent_outputs(const ValueMap& outputs, const SharedLease& lease) {
  return py::module_::import("d5._named_values")
      .attr("outputs_of_hook")(from_values(outputs, lease));
}

/// Outputs of a run, which the caller owns: an unknown name is an error with the nearest. Call with
/// the GIL.
[[nodiscard]] inline Values named_outputs(const Values& outputs) {
  return py::module_::import("d5._named_values").attr("NamedValues")(outputs);
}

}  // namespace d5::python
