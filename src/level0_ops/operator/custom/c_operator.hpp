// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/abi.h"
#include "d5/level0_ops/operator/operator.hpp"

namespace d5::detail {

/// The operator in a library's table for a node, which must outlive it. Throws: the error of the
/// library's `create`.
[[nodiscard]] std::unique_ptr<Operator> make_c_operator(const d5_operator& table,
                                                        const onnx::Node& node);

}  // namespace d5::detail
