// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "onnx/write_graph.hpp"

namespace d5::onnx::detail {

/// `proto` may have a remainder, which stays if the attribute has the same type.
void write_attribute(const std::string& name, const Attribute& value, ::onnx::AttributeProto& proto,
                     const WriteInitializer& write);

}  // namespace d5::onnx::detail
