// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/output_type.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {

DType output_type(const onnx::Node& node, std::string_view attribute, std::int64_t number) {
  const auto schema = onnx::schema_of(node);
  std::vector<std::string> known;
  for (const DType type : schema->outputs.at(0).element_types) {
    if (std::int64_t(type) == number) return type;
    known.push_back(fmt::format("{} ({})", int(type), name_of(type)));
  }
  throw ValueError(fmt::format("{}: {} is {}, expected one of {}", onnx::describe(node), attribute,
                               number, fmt::join(known, ", ")));
}

}  // namespace d5::detail
