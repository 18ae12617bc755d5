// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/grad_context.hpp"
#include "d5/level0_ops/operator/op_context.hpp"
#include "d5/level0_ops/operator/places.hpp"

namespace d5 {

/// What an executor may do with a kernel's memory.
struct KernelTraits {
  /// What `backward` reads of forward's values: kept alive; the memory of the rest is used again,
  /// and the contexts do not show it.
  Places backward_reads_inputs = Places::all();
  Places backward_reads_outputs = Places::all();
  /// The output that may live in the memory of input 0, or -1: elementwise kernels say 0. The
  /// executor decides, and does it only where nobody else reads the input.
  int in_place_output = -1;
};

/// How one node runs, in one framework: made by `Operator::plan` or by a framework's registered
/// plan, for given types, shapes, device and mode. It owns what it prepared: loops, primitives,
/// wrapped tensors, the C++ type that the element type stands for. Run many times, it allocates
/// and formats nothing and asks no type.
///
/// Its node and its operator outlive it. It keeps nothing between two calls of `forward` except
/// through `OpContext::saved` and state that its operator's specification names.
///
/// Thread safety: none; an executor owns its kernels.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Writes every output that `wants_output`. Work of a device is queued on `context.stream()`.
  virtual void forward(OpContext& context) = 0;

  /// Overwrites every input gradient that `wants_grad` with the vector-Jacobian product of the
  /// output gradients. Called only if the plan was told so (`PlanContext::wants_backward`).
  /// Throws: Unsupported by default.
  virtual void backward(GradContext& context);

  [[nodiscard]] virtual KernelTraits traits() const { return {}; }
};

}  // namespace d5
