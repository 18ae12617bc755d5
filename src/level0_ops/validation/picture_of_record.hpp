// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Draws `values` (`heatmap`) to a file in `folder`, which is created if missing, and adds it to
/// the artefacts of `record`, whose subject, framework, device and tensor are the file's name:
/// "Relu_2x3-torch-output_0-difference.png". `what` is "difference". Throws: IoError.
void add_heatmap(Measurement& record, const Tensor& values, const std::string& folder,
                 std::string_view what);

}  // namespace d5::detail
