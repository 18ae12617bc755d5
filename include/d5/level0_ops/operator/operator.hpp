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

/// Work that an operator does, for FLOP/s and rooflines.
struct Cost {
  double flop = 0;           ///< additions and multiplications of the definition, counted apart
  double bytes_read = 0;     ///< every input once
  double bytes_written = 0;  ///< every output once
};

/// What one operator with fixed attributes means, for all frameworks: its rules of shapes and
/// types, its gradients, its work; and how the reference computes it.
///
/// Made from a node; asked for any number of input shapes; knows nothing of runs.
///
/// Thread safety: all functions are const and may be called from several threads.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Types and shapes of the outputs, one each, left-out ones too. All input shapes are known when
  /// this is called. A dimension that depends on data which the context does not give is
  /// `kUnknownDim` (`unknown_shape` where the rank does, too), and nothing is read from the others;
  /// the executor then asks again while running, with the data at hand. What is unknown even then,
  /// the kernel allocates itself (`OpContext::allocate`).
  /// Throws: ShapeError, TypeError, ValueError.
  [[nodiscard]] virtual std::vector<ValueDesc> infer(const InferContext& context) const = 0;

  /// The inputs that have a gradient; integer and index inputs have none.
  [[nodiscard]] virtual Places gradients() const { return {}; }

  /// The work of one forward run: `bytes_only` for an operator that only moves or relabels
  /// elements, `with_flop` for any other. Throws: as `infer`.
  [[nodiscard]] virtual Cost cost(const InferContext& context) const = 0;

  /// The work of one backward run that gives the gradients of the inputs `wanted`, by the
  /// gradient's definition; nothing where it is not told. Throws: as `infer`.
  [[nodiscard]] virtual std::optional<Cost> gradient_cost(const InferContext& context,
                                                          Places wanted) const {
    (void)context, (void)wanted;
    return {};
  }

  /// The reference's kernel. Element types are told apart here (`kernel_for`), not while it runs.
  /// Throws: Unsupported for what it cannot do.
  [[nodiscard]] virtual std::unique_ptr<Kernel> plan(PlanContext& context) const = 0;

 protected:
  /// Every input read and every output written once; those whose shapes are not known yet, and
  /// values that are no tensors, count nothing.
  [[nodiscard]] Cost bytes_only(const InferContext& context) const;
  [[nodiscard]] Cost with_flop(const InferContext& context, double flop) const;
  /// `gradient_cost` where output 0 is a product of inputs 0 and 1, linear in each, and input 2 is
  /// added to it: each factor's gradient is a product of as many terms, of the output's gradient
  /// and the other factor; that of input 2 is a sum of the output's.
  [[nodiscard]] Cost bilinear_gradient_cost(const InferContext& context, Places wanted) const;
};

/// An operator without arithmetic: it moves, copies or relabels elements.
class MovingOperator : public Operator {
 public:
  [[nodiscard]] Cost cost(const InferContext& context) const final { return bytes_only(context); }
};

/// An operator that does `flop_per_element()` operations for each element of output 0. What a
/// processor has no single instruction for (a root, an exponential) counts as one.
class ElementwiseOperator : public Operator {
 public:
  [[nodiscard]] Cost cost(const InferContext& context) const final;

 protected:
  [[nodiscard]] virtual double flop_per_element() const { return 1; }
};

}  // namespace d5
