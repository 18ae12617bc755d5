// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/core/value.hpp"

namespace d5 {

/// Runs a graph that an operator holds as an attribute (If, Loop, Scan, SequenceMap). Implemented
/// by the executor of level 1; names captured from outside are bound by it.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  [[nodiscard]] virtual std::size_t input_count() const = 0;
  [[nodiscard]] virtual std::size_t output_count() const = 0;
  /// `inputs` in the graph's order; returns its outputs, which are the caller's to keep.
  virtual std::vector<Value> run(std::span<const Value> inputs) = 0;
};

}  // namespace d5
