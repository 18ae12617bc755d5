// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "core/statistics/uniformity.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// Judges a node that draws random numbers by the distribution of what it drew, for another
/// generator draws other numbers.
class DrawJudge {
 public:
  explicit DrawJudge(onnx::Node node) : node_(std::move(node)) {}

  [[nodiscard]] const onnx::Node& node() const { return node_; }
  /// What the node read and drew in one run, as `places_of_draws` takes it.
  void add(std::span<const Value> inputs, std::span<const Value> outputs);
  /// How many values were judged.
  [[nodiscard]] std::size_t count() const { return places_.count(); }
  /// `base` with Kolmogorov's distance for the error, failed where the draws are not those that the
  /// node's attributes and inputs say.
  [[nodiscard]] Measurement record(const Measurement& base) const;

 private:
  onnx::Node node_;
  RandomStream random_{0, stream_of("places of draws")};
  Uniformity places_;
  std::string impossible_;  ///< a value that the node cannot draw
};

}  // namespace d5::detail
