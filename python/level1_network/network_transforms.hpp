// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bindings.hpp"

namespace d5::python {

/// `Network.apply`, by a transform's name or an object of one. Call after binding d5.Transform.
void bind_apply(const py::module_& m);

/// Names of the registered transforms, without the entries of objects that were applied.
[[nodiscard]] std::vector<std::string> names_of_transforms();

}  // namespace d5::python
