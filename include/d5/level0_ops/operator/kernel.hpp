// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/grad_context.hpp"
#include "d5/level0_ops/operator/op_context.hpp"
#include "d5/level0_ops/operator/places.hpp"

namespace d5 {

/// A kernel's requirements on memory, for the executor.
struct KernelTraits {
  /// Forward's values that `backward` reads. They are kept alive; the memory of the others is
  /// reused, and the contexts do not contain them.
  Places backward_reads_inputs = Places::all();
  Places backward_reads_outputs = Places::all();
  /// The output that may share the memory of input 0, or -1; elementwise kernels return 0. The
  /// executor shares it only if nothing else reads the input.
  int in_place_output = -1;
};

/// Implementation of one node in one framework, for given types, shapes, device and mode. Made by
/// `Operator::plan` or a framework's registered plan. Owns everything it prepared: loops,
/// primitives, wrapped tensors, the C++ element type. Runs allocate nothing, format nothing and do
/// not dispatch on types.
///
/// Its node and its operator must outlive it. It has no state between two calls of `forward`,
/// except `OpContext::saved` and the state in its operator's specification.
///
/// Thread safety: none; an executor owns its kernels.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Writes every output for which `wants_output` is true. Work on a device is queued on
  /// `context.stream()`.
  virtual void forward(OpContext& context) = 0;

  /// Overwrites every input gradient for which `wants_grad` is true with the vector-Jacobian
  /// product of the output gradients. Called only if planned for it
  /// (`PlanContext::wants_backward`).
  /// Throws: Unsupported by default.
  virtual void backward(GradContext& context);

  [[nodiscard]] virtual KernelTraits traits() const { return {}; }
};

}  // namespace d5
