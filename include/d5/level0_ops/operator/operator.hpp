// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/infer_context.hpp"
#include "d5/level0_ops/operator/kernel.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"

namespace d5 {

/// Work of an operator, for FLOP/s and rooflines.
struct Cost {
  double flop = 0;        ///< additions and multiplications in the definition, counted separately
  double bytes_read = 0;  ///< every input once
  double bytes_written = 0;  ///< every output once
};

/// Definition of an operator with fixed attributes, for all frameworks: rules of shapes and types,
/// gradients, work; and the reference implementation.
///
/// Made from a node, and used for any number of input shapes. Has no state of runs.
///
/// Thread safety: all functions are const and may be called from several threads.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Types and shapes of all outputs, including omitted ones. All input shapes are known. A
  /// dimension that depends on data outside the context is `kUnknownDim` (`unknown_shape` if the
  /// rank does as well), and the other dimensions are then ignored; the executor calls again at run
  /// time, with the data. If a shape is unknown even then, the kernel allocates the output
  /// (`OpContext::allocate`).
  /// Throws: ShapeError, TypeError, ValueError.
  [[nodiscard]] virtual std::vector<ValueDesc> infer(const InferContext& context) const = 0;

  /// The differentiable inputs; never integers and indices.
  [[nodiscard]] virtual Places gradients() const { return {}; }

  /// The work of one forward run: `bytes_only` for an operator that only moves or relabels
  /// elements, `with_flop` for any other. Throws: as `infer`.
  [[nodiscard]] virtual Cost cost(const InferContext& context) const = 0;

  /// The work of one backward run for the gradients of the inputs `wanted`, by the gradient's
  /// definition; nothing if unknown. Throws: as `infer`.
  [[nodiscard]] virtual std::optional<Cost> gradient_cost(const InferContext& context,
                                                          Places wanted) const {
    (void)context, (void)wanted;
    return {};
  }

  /// The reference's kernel. Dispatches on element types here (`kernel_for`), not at run time.
  /// Throws: Unsupported, with the reason, if it cannot compute the case.
  [[nodiscard]] virtual std::unique_ptr<Kernel> plan(PlanContext& context) const = 0;

 protected:
  /// The cost of reading every input and writing every output once. Unknown shapes and values other
  /// than tensors count as 0.
  [[nodiscard]] Cost bytes_only(const InferContext& context) const;
  [[nodiscard]] Cost with_flop(const InferContext& context, double flop) const;
  /// `gradient_cost` if output 0 is a bilinear product of inputs 0 and 1, plus input 2. Each
  /// factor's gradient is a product of the output's gradient with the other factor, with the same
  /// number of terms. The gradient of input 2 is a sum over the output's.
  [[nodiscard]] Cost bilinear_gradient_cost(const InferContext& context, Places wanted) const;
};

/// An operator without arithmetic: it moves, copies or relabels elements.
class MovingOperator : public Operator {
 public:
  [[nodiscard]] Cost cost(const InferContext& context) const final { return bytes_only(context); }
};

/// An operator with `flop_per_element()` operations per element of output 0. A function without a
/// processor instruction of its own (a root, an exponential) counts as one operation.
class ElementwiseOperator : public Operator {
 public:
  [[nodiscard]] Cost cost(const InferContext& context) const final;

 protected:
  [[nodiscard]] virtual double flop_per_element() const { return 1; }
};

}  // namespace d5
