// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// What a callback is given to read: as `lend` and `from_values`, and NumPy refuses to write into
/// it, because others read the memory, too, and it may be a caller's read-only array.
[[nodiscard]] inline Anything lend_input(const Tensor& tensor, const SharedLease& lease) {
  return Anything(py::cast(HeldTensor{tensor, lease, true}));
}
[[nodiscard]] Values lent_inputs(const ValueMap& values, const SharedLease& lease);

}  // namespace d5::python
