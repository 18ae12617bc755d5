// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/slowdown.hpp"

#include <fmt/format.h>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr const char *kKernelFactor = "kernel_slowdown", *kAllReduceFactor = "all_reduce_slowdown";

}  // namespace

void expect_usable(const Slowdown& slowdown, const std::string& who) {
  for (const double factor : {slowdown.kernel, slowdown.all_reduce}) {
    if (factor > 0 && std::isfinite(factor)) continue;
    throw ValueError(
        fmt::format("{}: a slowdown of {}; expected a number above 0", printable(who), factor));
  }
}

Slowdown slowdown_of(const Operation& operation) {
  Slowdown slowdown;
  for (const TraceArgument& attribute : operation.attributes) {
    const auto* number = std::get_if<double>(&attribute.value);
    if (number && attribute.name == kKernelFactor) slowdown.kernel = *number;
    if (number && attribute.name == kAllReduceFactor) slowdown.all_reduce = *number;
  }
  return slowdown;
}

void set_slowdown(Operation& operation, const Slowdown& slowdown) {
  expect_usable(slowdown, operation.name);
  std::erase_if(operation.attributes, [](const TraceArgument& attribute) {
    return attribute.name == kKernelFactor || attribute.name == kAllReduceFactor;
  });
  operation.attributes.push_back({kKernelFactor, slowdown.kernel});
  operation.attributes.push_back({kAllReduceFactor, slowdown.all_reduce});
}

}  // namespace d5
