// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5 {

void Kernel::backward(GradContext& context) {
  throw Unsupported(fmt::format("{} has no gradient", context.who()));
}

void PlanContext::expect_keeps_layouts() const {
  if (keeps_layouts()) return;
  throw ContractError(who() +
                      ": its kernel arranges values although PlanContext::keeps_layouts() is "
                      "false; read and write row-major there");
}

void detail::throw_no_kernel(const PlanContext& context, std::string_view what, DType dtype,
                             std::span<const DType> known) {
  std::vector<std::string_view> names;
  for (const DType type : known) names.push_back(name_of(type));
  throw Unsupported(fmt::format("{}: there is no {} for {}; there is one for {}", context.who(),
                                what, name_of(dtype), fmt::join(names, ", ")));
}

}  // namespace d5
