// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/tensor/device.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/level0_ops/operator/infer_context.hpp"
#include "d5/level0_ops/operator/kernel.hpp"

namespace d5 {

class Operator;

/// Target of a plan, besides its node and the descriptions of its values.
struct PlanTarget {
  Mode mode = Mode::inference;
  Device device = {};          ///< device of the kernel and all its values
  Places grad_inputs = {};     ///< inputs whose gradients backward must compute
  bool keeps_layouts = false;  ///< the executor supports values in a framework's own layout
};

/// Context of planning: tells a kernel its target, and takes its requests for memory and layouts.
class PlanContext : public InferContext {
 public:
  PlanContext(const Operator& op, const onnx::Node& node, std::span<const ValueDesc> inputs,
              std::span<const Value* const> constants, std::span<const ValueDesc> outputs,
              PlanTarget target)
      : InferContext(node, inputs, constants),
        op_(op),
        outputs_(outputs),
        target_(std::move(target)) {}

  /// The node's definition.
  [[nodiscard]] const Operator& op() const { return op_; }
  [[nodiscard]] const TensorDesc& output(std::size_t i) const { return outputs_[i].tensor; }
  [[nodiscard]] const ValueDesc& output_value(std::size_t i) const { return outputs_[i]; }
  [[nodiscard]] Mode mode() const { return target_.mode; }
  [[nodiscard]] Device device() const { return target_.device; }
  /// Whether backward must compute the gradient of input `i`.
  [[nodiscard]] bool wants_grad(std::size_t i) const {
    return has_input(i) && target_.grad_inputs.contains(i);
  }
  [[nodiscard]] bool wants_backward() const { return !target_.grad_inputs.empty(); }

  /// Whether the kernel may request arrangements of its framework: only in an executor of networks,
  /// without backward. Otherwise all its values are row-major.
  [[nodiscard]] bool keeps_layouts() const { return target_.keeps_layouts && !wants_backward(); }
  /// Declares that the kernel reads input `i` in the described layout, even an opaque one. Without
  /// this, the input is row-major.
  void accept_layout(std::size_t i) { accepted_layouts_.add(i); }
  /// Requests input `i` in this arrangement. The executor reorders it if necessary; parameters and
  /// constants once, and again only after the network's values change.
  void want_layout(std::size_t i, std::shared_ptr<const Arrangement> arrangement) {
    expect_keeps_layouts();
    put(wanted_layouts_, i, std::move(arrangement));
  }
  /// Declares that the kernel writes output `k` in its own arrangement. The executor reorders it
  /// for other readers.
  void arrange_output(std::size_t k, std::shared_ptr<const Arrangement> arrangement) {
    expect_keeps_layouts();
    put(arrangements_, k, std::move(arrangement));
  }

  /// Requests scratch memory, undefined at the start of each forward or backward run.
  void request_scratch(std::size_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  /// Requests a tensor that forward writes and backward reads; it exists only if backward is
  /// wanted. Returns its index for `OpContext::saved` and `GradContext::saved`.
  std::size_t save(TensorDesc desc) {
    saved_.push_back(std::move(desc));
    return saved_.size() - 1;
  }

  // Requests of the kernel.
  [[nodiscard]] bool accepts_layout(std::size_t i) const { return accepted_layouts_.contains(i); }
  /// Null if input `i` may be row-major, or as `accepts_layout` allows.
  [[nodiscard]] std::shared_ptr<const Arrangement> wanted_layout(std::size_t i) const {
    return i < wanted_layouts_.size() ? wanted_layouts_[i] : nullptr;
  }
  /// Null for a row-major output.
  [[nodiscard]] std::shared_ptr<const Arrangement> arrangement(std::size_t k) const {
    return k < arrangements_.size() ? arrangements_[k] : nullptr;
  }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }
  [[nodiscard]] const std::vector<TensorDesc>& saved() const { return saved_; }

 private:
  using Arrangements = std::vector<std::shared_ptr<const Arrangement>>;
  static void put(Arrangements& list, std::size_t place, std::shared_ptr<const Arrangement> one) {
    list.resize(std::max(list.size(), place + 1));
    list[place] = std::move(one);
  }
  /// Throws: ContractError.
  void expect_keeps_layouts() const;

  const Operator& op_;
  std::span<const ValueDesc> outputs_;
  PlanTarget target_;
  Places accepted_layouts_;
  Arrangements wanted_layouts_, arrangements_;
  std::size_t scratch_bytes_ = 0;
  std::vector<TensorDesc> saved_;
};

namespace detail {
/// `what` is "kernel" or "gradient".
[[noreturn]] void throw_no_kernel(const PlanContext& context, std::string_view what, DType dtype,
                                  std::span<const DType> known);
template <class... Ts>
void expect_type(Types<Ts...>, DType dtype, const PlanContext& context, std::string_view what) {
  static constexpr DType kKnown[] = {dtype_of<Ts>...};
  if (((dtype_of<Ts> != dtype) && ...)) throw_no_kernel(context, what, dtype, kKnown);
}
}  // namespace detail

/// The kernel made by `make.operator()<T>()` for the C++ type T of `dtype`. Throws: Unsupported,
/// with the supported types, if `dtype` is not in the list.
///
///     return kernel_for(FloatTypes{}, context.dtype(0), context, [&]<class T>() {
///       return std::make_unique<SoftmaxKernel<T>>(rows(context), columns(context));
///     });
template <class... Ts, class Make>
[[nodiscard]] std::unique_ptr<Kernel> kernel_for(Types<Ts...> types, DType dtype,
                                                 const PlanContext& context, Make&& make) {
  detail::expect_type(types, dtype, context, "kernel");
  std::unique_ptr<Kernel> kernel;
  (void)((dtype_of<Ts> == dtype ? (kernel = make.template operator()<Ts>(), true) : false) || ...);
  return kernel;
}

/// `kernel_for` for a kernel whose backward supports fewer types, `gradient_types`, than its
/// forward.
template <class... Ts, class... Gs, class Make>
[[nodiscard]] std::unique_ptr<Kernel> kernel_for(Types<Ts...> types, Types<Gs...> gradient_types,
                                                 DType dtype, const PlanContext& context,
                                                 Make&& make) {
  if (context.wants_backward()) detail::expect_type(gradient_types, dtype, context, "gradient");
  return kernel_for(types, dtype, context, std::forward<Make>(make));
}

}  // namespace d5
