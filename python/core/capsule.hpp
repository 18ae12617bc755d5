// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// `__dlpack__` of a tensor, as the array API specifies it: a capsule of version 1 if `max_version`
/// allows it, else an unversioned one, which cannot mark memory as read-only. Throws: Python's
/// BufferError if the tensor cannot be exported that way.
[[nodiscard]] py::capsule to_capsule(const HeldTensor& held, const Anything& stream,
                                     const Anything& max_version, const Anything& device,
                                     const Anything& copy);

}  // namespace d5::python
