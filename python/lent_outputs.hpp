// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// Outputs that a hook is given: as `from_values`, and an unknown name is an error with the
/// nearest. Call with the GIL.
[[nodiscard]] inline Values lent_outputs(const ValueMap& outputs, const SharedLease& lease) {
  return py::module_::import("d5._named_values").attr("NamedValues")(from_values(outputs, lease));
}

}  // namespace d5::python
