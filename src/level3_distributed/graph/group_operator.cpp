// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/group_operator.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"

namespace d5::detail {
namespace {

int small(const onnx::Node& node, std::string_view name, std::int64_t value, int most) {
  if (value >= 0 && value <= most) return static_cast<int>(value);
  throw ValueError(fmt::format("{}: attribute {} is {}, expected 0 to {}", onnx::describe(node),
                               name, value, most));
}

}  // namespace

GroupOperator::GroupOperator(const onnx::Node& node) {
  const auto* group = node.attribute<std::string>("group");
  ranks_ = communication_group(group ? *group : "world");
}

std::int64_t GroupOperator::rows(const InferContext& context) {
  if (context.shape(0).rank() > 0) return context.shape(0)[0];
  throw ShapeError(fmt::format("{}: input 0 is {}, expected at least one dimension, that of rows",
                               context.who(), to_string(context.input(0))));
}

TensorDesc GroupOperator::with_rows(const InferContext& context, std::int64_t rows) {
  const auto dims = context.shape(0).dims();
  std::vector<std::int64_t> sizes(dims.begin(), dims.end());
  sizes.at(0) = rows;
  return {context.dtype(0), Shape(sizes)};
}

void GroupKernel::forward(OpContext& context) {
  // Prevents constant folding: a node that uses random numbers is never constant.
  (void)context.services().random();
  run(context);
}

int rank_attribute(const onnx::Node& node, std::string_view name) {
  const auto* value = node.attribute<std::int64_t>(name);
  if (value) return small(node, name, *value, std::numeric_limits<int>::max());
  throw NotFound(
      fmt::format("{} has no attribute {}, expected a rank's number", onnx::describe(node), name));
}

int tag_attribute(const onnx::Node& node) {
  const auto* value = node.attribute<std::int64_t>("tag");
  return value ? small(node, "tag", *value, Communicator::kFirstOwnTag - 1) : 0;
}

}  // namespace d5::detail
