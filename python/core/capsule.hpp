// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"

namespace d5::python {

/// `__dlpack__` of a tensor, by the array API's rules: a capsule of version 1 where `max_version`
/// allows it, else of the days before versions, which cannot say that memory is read-only.
/// Throws: BufferError of Python's for what cannot be given.
[[nodiscard]] py::capsule to_capsule(const HeldTensor& held, const Anything& stream,
                                     const Anything& max_version, const Anything& device,
                                     const Anything& copy);

}  // namespace d5::python
