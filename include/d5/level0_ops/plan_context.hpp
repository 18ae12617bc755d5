// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "d5/level0_ops/infer_context.hpp"

namespace d5 {

enum class Mode { inference, training };

/// Where an operator asks for what its runs will need.
class PlanContext : public InferContext {
 public:
  PlanContext(const onnx::Node& node, std::span<const ValueDesc> inputs,
              std::span<const Value* const> constants, std::span<const ValueDesc> outputs,
              Mode mode)
      : InferContext(node, inputs, constants), outputs_(outputs), mode_(mode) {}

  [[nodiscard]] const TensorDesc& output(std::size_t i) const { return outputs_[i].tensor; }
  /// In training mode a backward run follows each forward run.
  [[nodiscard]] Mode mode() const { return mode_; }

  /// Memory that is undefined at the start of each forward or backward run.
  void request_scratch(std::size_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  /// A tensor that forward writes and backward reads; kept in training mode only. Returns its index
  /// for `OpContext::saved` and `GradContext::saved`.
  std::size_t save(TensorDesc desc) {
    saved_.push_back(std::move(desc));
    return saved_.size() - 1;
  }

  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] const std::vector<TensorDesc>& saved() const { return saved_; }

 private:
  std::span<const ValueDesc> outputs_;
  Mode mode_;
  std::size_t scratch_bytes_ = 0;
  std::vector<TensorDesc> saved_;
};

}  // namespace d5
