// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5::python {

/// Inputs from Python: None for none; a dict of arrays and of paths of .npy and .pb files by name;
/// the path of one file; or a list of words for `input_files`. Throws: as `input_files`; TypeError.
[[nodiscard]] GivenInputs to_given_inputs(const py::handle& inputs);

}  // namespace d5::python
