// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "bindings.hpp"

namespace d5::python {

/// Call after the methods are defined. Their wrong calls raise d5's one-line TypeError, as all
/// others, without the wrapper in Python of `d5._words`, which right calls would pay for.
/// Documentation and signatures stay as they are.
void explain_wrong_calls(const py::object& made, std::initializer_list<const char*> methods);

}  // namespace d5::python
