// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

using NamedSizes = std::map<std::string, std::int64_t, std::less<>>;

/// Whether a file declares another rank or size than a tensor has; `named` binds the names of
/// sizes. Undeclared dimensions contradict nothing.
[[nodiscard]] bool contradicts(const onnx::Type& declared, const TensorDesc& found,
                               const NamedSizes& named = {});

}  // namespace d5
