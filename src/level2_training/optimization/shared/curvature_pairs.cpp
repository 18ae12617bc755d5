// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/curvature_pairs.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "level2_training/optimization/shared/flat_parameters.hpp"

namespace d5::detail {

void CurvaturePairs::add(std::vector<double> s, std::vector<double> y, double least) {
  const double product = dot(y, s);
  if (product > least) push(std::move(s), std::move(y), product);
}

void CurvaturePairs::push(std::vector<double> s, std::vector<double> y, double product) {
  if (pairs_.size() == most_) pairs_.pop_front();
  diagonal_ = product / dot(y, y);
  pairs_.push_back({std::move(s), std::move(y), 1 / product});
}

std::vector<double> CurvaturePairs::times(const std::vector<double>& g) const {
  std::vector<double> q = g, shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = dot(pairs_[i].s, q) * pairs_[i].rho;
    add_times(q, -shares[i], pairs_[i].y);
  }
  for (double& value : q) value *= diagonal_;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double share = dot(pairs_[i].y, q) * pairs_[i].rho;
    add_times(q, shares[i] - share, pairs_[i].s);
  }
  return q;
}

void CurvaturePairs::save(ValueMap& state) const {
  state["pairs"] = Tensor::scalar(std::int64_t(pairs_.size()));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    state[fmt::format("pair/{}/s", i)] = Tensor::vector(pairs_[i].s);
    state[fmt::format("pair/{}/y", i)] = Tensor::vector(pairs_[i].y);
  }
}

void CurvaturePairs::restore(const ValueMap& state) {
  pairs_.clear();
  diagonal_ = 1;
  const auto vector = [&](const std::string& name) {
    const auto values = state_entry(state, name, "optimizer").span<double>();
    return std::vector<double>(values.begin(), values.end());
  };
  const auto count = state_entry(state, "pairs", "optimizer").item<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    auto s = vector(fmt::format("pair/{}/s", i)), y = vector(fmt::format("pair/{}/y", i));
    if (s.size() != y.size()) {
      throw ShapeError(
          fmt::format("optimizer: saved pair {} has {} and {} elements; expected as many in both",
                      i, s.size(), y.size()));
    }
    const double product = dot(y, s);
    push(std::move(s), std::move(y), product);
  }
}

}  // namespace d5::detail
