// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/draw_judge.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/drawn_values.hpp"

namespace d5::detail {

void DrawJudge::add(std::span<const Value> inputs, std::span<const Value> outputs) {
  if (!impossible_.empty()) return;
  try {
    places_.add(places_of_draws(node_, inputs, outputs, random_));
  } catch (const Error& error) {
    impossible_ = error.what();
  }
}

Measurement DrawJudge::record(const Measurement& base) const {
  Measurement result = base;
  result.conditions["compared"] = finding(fmt::format("the distribution of {} draws", count()));
  result.samples = {places_.distance()};
  const std::string complaint = places_.complaint();
  if (impossible_.empty() && complaint.empty()) return result;
  result.status = Status::failed;
  result.reason = impossible_.empty()
                      ? fmt::format("{}: of its draws {}", onnx::describe(node_), complaint)
                      : impossible_;
  return result;
}

}  // namespace d5::detail
