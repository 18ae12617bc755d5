// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5::python {

/// What Python gives as inputs: nothing (None); by name arrays, and paths of .npy and .pb files;
/// the path of one file; a list of words of `input_files`. Throws: as `input_files`; TypeError.
[[nodiscard]] GivenInputs to_given_inputs(const py::handle& inputs);

}  // namespace d5::python
