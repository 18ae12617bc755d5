// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products over named indices.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/matrix/einsum_equation.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {
namespace {

/// Contraction: computes an operand of an Einsum, the target, from sums of products of all others.
/// The output is a target, and so is each input for its gradient. Allocates nothing.
class Contraction {
 public:
  static constexpr std::size_t kMostIndices = 64;

  /// `indices` are those of `operands` operands. Throws: Unsupported above `kMostIndices`.
  Contraction(const std::vector<EinsumIndex>& indices, std::size_t operands, std::size_t target);

  /// Computes the elements of `to` on the indices, and writes no others. `operand(k)` is the begin
  /// of operand k.
  template <class T, class F>
  void run(T* to, const F& operand) const {
    parallel_for_each(results_, terms_, 16384, [&](std::int64_t i) {
      Place at{};
      for (std::size_t d = kept_; d-- > 0; i /= indices_[d].size) at[d] = i % indices_[d].size;
      to[offset(target_, at)] = T(Arithmetic<T>(sum<T>(at, operand)));
    });
  }

 private:
  static constexpr std::int64_t kRow = 64;  // number of products computed together
  using Place = std::array<std::int64_t, kMostIndices>;

  [[nodiscard]] std::int64_t offset(std::size_t operand, const Place& at) const {
    std::int64_t result = 0;
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      result += at[d] * indices_[d].steps[operand];
    }
    return result;
  }

  template <class T, class F>
  Accumulator<Arithmetic<T>> sum(Place& at, const F& operand) const {
    using A = Accumulator<Arithmetic<T>>;
    A total = 0;
    if (terms_ == 0) return total;
    const EinsumIndex& row = indices_.back();
    std::int64_t& along = at[indices_.size() - 1];
    do {
      for (along = 0; along < row.size; along += kRow) {
        const std::int64_t count = std::min(kRow, row.size - along);
        std::array<A, kRow> products;
        std::fill_n(products.begin(), count, A(1));
        for (std::size_t k = 0; k < operands_; ++k) {
          if (k == target_) continue;
          const T* x = operand(k) + offset(k, at);
          const std::int64_t step = row.steps[k];
          for (std::int64_t i = 0; i < count; ++i) {
            products[std::size_t(i)] *= A(Arithmetic<T>(x[i * step]));
          }
        }
        for (std::int64_t i = 0; i < count; ++i) total += products[std::size_t(i)];
      }
    } while (next_row(at));
    return total;
  }

  /// False after the last one.
  bool next_row(Place& at) const {
    for (std::size_t d = indices_.size() - 1; d-- > kept_;) {
      if (++at[d] < indices_[d].size) return true;
      at[d] = 0;
    }
    return false;
  }

  std::vector<EinsumIndex> indices_;  // first the target's, then the summed ones
  std::size_t kept_ = 0, operands_, target_;
  std::int64_t results_ = 1;
  std::int64_t terms_ = 1;  // number of terms of each sum, saturated
};

Contraction::Contraction(const std::vector<EinsumIndex>& indices, std::size_t operands,
                         std::size_t target)
    : operands_(operands), target_(target) {
  if (indices.size() >= kMostIndices) {
    throw Unsupported(
        fmt::format("a sum over {} indices, of at most {}", indices.size(), kMostIndices - 1));
  }
  const auto is_kept = [&](const EinsumIndex& index) { return index.steps[target] != 0; };
  for (const EinsumIndex& index : indices) {
    if (!is_kept(index)) continue;
    indices_.push_back(index);
    results_ *= index.size;
  }
  kept_ = indices_.size();
  bool empty = false, overflow = false;
  for (const EinsumIndex& index : indices) {
    if (is_kept(index)) continue;
    indices_.push_back(index);
    empty |= index.size == 0;
    overflow |= __builtin_mul_overflow(terms_, index.size, &terms_);
  }
  if (overflow) terms_ = std::numeric_limits<std::int64_t>::max();
  if (empty) terms_ = 0;
  if (indices_.size() == kept_) indices_.push_back({1, std::vector<std::int64_t>(operands)});
}

}  // namespace
}  // namespace d5::detail

namespace d5::ops {
namespace {

using detail::Contraction;
using detail::EinsumEquation;
using detail::EinsumIndex;

template <class T>
class EinsumKernel final : public Kernel {
 public:
  EinsumKernel(const std::vector<EinsumIndex>& indices, const PlanContext& context)
      : inputs_(context.input_count()),
        forward_(indices, inputs_ + 1, inputs_),
        empty_(context.output(0).elements() == 0),
        gradients_(inputs_) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (context.wants_grad(i)) gradients_[i].emplace(indices, inputs_ + 1, i);
    }
  }

  void forward(OpContext& context) override {
    if (empty_) return;
    forward_.run(context.output(0).data<T>(),
                 [&](std::size_t k) { return context.input(k).data<T>(); });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      for (std::size_t i = 0; i < inputs_; ++i) {
        if (!context.wants_grad(i)) continue;
        detail::zero_elements(context.grad_input(i));  // outside a diagonal
        if (empty_ || context.grad_input(i).elements() == 0) continue;
        gradients_[i]->run(context.grad_input(i).data<T>(), [&](std::size_t k) {
          return k == inputs_ ? context.grad_output(0).data<T>() : context.input(k).data<T>();
        });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override { return {.backward_reads_outputs = {}}; }

 private:
  std::size_t inputs_;
  Contraction forward_;
  bool empty_;
  std::vector<std::optional<Contraction>> gradients_;
};

/// Shapes: by the equation; the sizes of an index are equal, or 1 and broadcast.
class Einsum final : public Operator {
 public:
  explicit Einsum(const onnx::nodes::Einsum& view)
      : equation_(view.equation(), onnx::describe(view.node())) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), equation_.resolve(context).output}};
  }

  Places gradients() const override { return Places::all(); }

  /// A product of all inputs for each combination of indices, and a sum if it is summed.
  Cost cost(const InferContext& context) const override {
    const auto [indices, output] = equation_.resolve(context);
    double places = 1;
    for (const EinsumIndex& index : indices) places *= double(index.size);
    const bool sums = std::ranges::any_of(
        indices, [](const EinsumIndex& index) { return index.steps.back() == 0; });
    return with_flop(context, places * double(context.input_count() - (sums ? 0 : 1)));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto indices = equation_.resolve(context).indices;
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<EinsumKernel<T>>(indices, context);
    });
  }

 private:
  EinsumEquation equation_;
};

}  // namespace

void register_einsum(OperatorRegistry& registry) { registry.add<Einsum, onnx::nodes::Einsum>(); }

}  // namespace d5::ops
