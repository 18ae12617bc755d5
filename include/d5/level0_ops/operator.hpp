// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/value.hpp"
#include "d5/level0_ops/grad_context.hpp"
#include "d5/level0_ops/infer_context.hpp"
#include "d5/level0_ops/op_context.hpp"
#include "d5/level0_ops/plan_context.hpp"

namespace d5 {

/// Work that an operator does, for FLOP/s and rooflines.
struct Cost {
  double flop = 0;           ///< additions and multiplications of the definition, counted apart
  double bytes_read = 0;     ///< every input once
  double bytes_written = 0;  ///< every output once
};

/// One operator with fixed attributes, forward and backward.
///
/// Life: made from a node → `infer` for each set of input shapes → `plan` once for those shapes →
/// `forward` (and `backward`) many times, without allocation. An operator may keep what `plan`
/// prepared; it keeps nothing between two calls of `forward` except through `OpContext::saved` and
/// operator state that its specification names.
///
/// Thread safety: none; an executor owns its operators.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Types and shapes of the outputs, one each, left-out ones too. All input shapes are known when
  /// this is called. A dimension that depends on data which `InferContext::constant` does not give
  /// is `kUnknownDim`; the executor then asks again while running, with the data at hand. What is
  /// unknown even then, `forward` allocates itself (`OpContext::allocate`).
  /// Throws: ShapeError, TypeError, ValueError.
  [[nodiscard]] virtual std::vector<ValueDesc> infer(const InferContext& context) const = 0;

  /// Prepares for the shapes in `context`: scratch size, tensors to keep for backward, primitives.
  virtual void plan(PlanContext& context) { (void)context; }

  /// Writes every output that `wants_output`.
  virtual void forward(OpContext& context) = 0;

  /// Overwrites every input gradient that `wants_grad` with the vector-Jacobian product of the
  /// output gradients. Throws: Unsupported by default.
  virtual void backward(GradContext& context);

  /// Whether `backward` has a gradient for input `i`; integer and index inputs have none.
  [[nodiscard]] virtual bool differentiable(std::size_t input) const {
    (void)input;
    return false;
  }

  /// What `backward` reads: the executor keeps these alive, and may reuse the memory of the rest.
  [[nodiscard]] virtual bool backward_needs_input(std::size_t input) const {
    (void)input;
    return true;
  }
  [[nodiscard]] virtual bool backward_needs_output(std::size_t output) const {
    (void)output;
    return true;
  }

  /// The output that may live in the memory of input 0, or -1: elementwise operators say 0. The
  /// executor decides, and does it only where nobody else reads the input.
  [[nodiscard]] virtual int in_place_output() const { return -1; }

  [[nodiscard]] virtual Cost cost(const InferContext& context) const;
};

}  // namespace d5
