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

/// Judges a random node by the distribution of its numbers, because another generator draws other
/// numbers.
class DrawJudge {
 public:
  explicit DrawJudge(onnx::Node node) : node_(std::move(node)) {}

  [[nodiscard]] const onnx::Node& node() const { return node_; }
  /// Adds the inputs and outputs of a run, as for `places_of_draws`.
  void add(std::span<const Value> inputs, std::span<const Value> outputs);
  /// The number of judged values.
  [[nodiscard]] std::size_t count() const { return places_.count(); }
  /// `base` with Kolmogorov's distance as the error; failed if the distribution is not that of the
  /// node's attributes and inputs.
  [[nodiscard]] Measurement record(const Measurement& base) const;

 private:
  onnx::Node node_;
  RandomStream random_{0, stream_of("places of draws")};
  Uniformity places_;
  std::string impossible_;  ///< a value that the node cannot draw
};

}  // namespace d5::detail
