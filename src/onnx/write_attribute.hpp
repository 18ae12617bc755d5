// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx/write_graph.hpp"

namespace d5::onnx::detail {

/// `proto` may hold what a file said besides; it stays if the attribute is of the same type.
void write_attribute(const std::string& name, const Attribute& value, ::onnx::AttributeProto& proto,
                     const WriteInitializer& write);

}  // namespace d5::onnx::detail
