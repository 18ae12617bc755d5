// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openvino/runtime/tensor.hpp>
#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5::openvino {

/// The reason why OpenVINO does not support values of this type; empty if it does.
[[nodiscard]] std::string refusal(const ValueDesc& desc);

/// OpenVINO's view of d5's memory. Throws: Unsupported for an element type that it lacks.
[[nodiscard]] ov::Tensor view_of(const Tensor& tensor);

/// A copy in d5's memory. Throws: Unsupported for an element type that d5 lacks.
[[nodiscard]] Tensor copy_of(const ov::Tensor& tensor);

}  // namespace d5::openvino
