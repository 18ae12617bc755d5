// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "level1_network/run_state.hpp"

namespace d5 {

/// An operator whose shapes only running tells: infers again with the values at hand, allocates the
/// outputs, plans, then runs the operator that it wraps.
class DynamicOperator final : public Operator {
 public:
  DynamicOperator(const RunState& state, std::unique_ptr<Operator> op, Mode mode)
      : state_(state), op_(std::move(op)), mode_(mode) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return op_->infer(context);
  }
  void forward(OpContext& context) override;
  void backward(GradContext& context) override;

 private:
  void prepare(OpContext& context, std::span<const ValueDesc> inputs,
               std::span<const Value* const> constants, std::span<const ValueDesc> outputs);

  const RunState& state_;
  std::unique_ptr<Operator> op_;
  Mode mode_;
  bool planned_ = false;
  std::vector<Tensor> saved_;
  Tensor scratch_;
};

}  // namespace d5
