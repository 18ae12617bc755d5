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

/// What a kernel is planned for, besides its node and the descriptions of its values.
struct PlanTarget {
  Mode mode = Mode::inference;
  Device device = {};          ///< where the kernel runs and all its values lie
  Places grad_inputs = {};     ///< inputs whose gradients backward will be asked for
  bool keeps_layouts = false;  ///< who runs the kernel can keep values in a framework's own order
};

/// Where a kernel learns what it is for, and asks for what its runs will need.
class PlanContext : public InferContext {
 public:
  PlanContext(const Operator& op, const onnx::Node& node, std::span<const ValueDesc> inputs,
              std::span<const Value* const> constants, std::span<const ValueDesc> outputs,
              PlanTarget target)
      : InferContext(node, inputs, constants),
        op_(op),
        outputs_(outputs),
        target_(std::move(target)) {}

  /// What the node means.
  [[nodiscard]] const Operator& op() const { return op_; }
  [[nodiscard]] const TensorDesc& output(std::size_t i) const { return outputs_[i].tensor; }
  [[nodiscard]] const ValueDesc& output_value(std::size_t i) const { return outputs_[i]; }
  [[nodiscard]] Mode mode() const { return target_.mode; }
  [[nodiscard]] Device device() const { return target_.device; }
  /// Whether backward will be asked for the gradient of input `i`.
  [[nodiscard]] bool wants_grad(std::size_t i) const {
    return has_input(i) && target_.grad_inputs.contains(i);
  }
  [[nodiscard]] bool wants_backward() const { return !target_.grad_inputs.empty(); }

  /// Whether the kernel may ask for arrangements of its framework: by an executor of networks,
  /// where no backward is wanted. Otherwise all that it reads and writes is row-major.
  [[nodiscard]] bool keeps_layouts() const { return target_.keeps_layouts && !wants_backward(); }
  /// The kernel reads input `i` in the layout that its description has, be it opaque. Who does not
  /// say so is given row-major elements.
  void accept_layout(std::size_t i) { accepted_layouts_.add(i); }
  /// Input `i` has to arrive in this arrangement: the executor reorders what lies otherwise; a
  /// parameter or a constant once, and again only after the network's values have changed.
  void want_layout(std::size_t i, std::shared_ptr<const Arrangement> arrangement) {
    expect_keeps_layouts();
    put(wanted_layouts_, i, std::move(arrangement));
  }
  /// The kernel writes output `k` in an arrangement of its own; the executor reorders it for those
  /// who read it otherwise.
  void arrange_output(std::size_t k, std::shared_ptr<const Arrangement> arrangement) {
    expect_keeps_layouts();
    put(arrangements_, k, std::move(arrangement));
  }

  /// Memory that is undefined at the start of each forward or backward run.
  void request_scratch(std::size_t bytes) { scratch_bytes_ = std::max(scratch_bytes_, bytes); }
  /// A tensor that forward writes and backward reads; kept only where backward is wanted. Returns
  /// its index for `OpContext::saved` and `GradContext::saved`.
  std::size_t save(TensorDesc desc) {
    saved_.push_back(std::move(desc));
    return saved_.size() - 1;
  }

  // What the kernel asked for.
  [[nodiscard]] bool accepts_layout(std::size_t i) const { return accepted_layouts_.contains(i); }
  /// Null where input `i` may come in rows, or as `accepts_layout` says.
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
/// `what`: "kernel" or "gradient".
[[noreturn]] void throw_no_kernel(const PlanContext& context, std::string_view what, DType dtype,
                                  std::span<const DType> known);
template <class... Ts>
void expect_type(Types<Ts...>, DType dtype, const PlanContext& context, std::string_view what) {
  static constexpr DType kKnown[] = {dtype_of<Ts>...};
  if (((dtype_of<Ts> != dtype) && ...)) throw_no_kernel(context, what, dtype, kKnown);
}
}  // namespace detail

/// The kernel that `make.operator()<T>()` makes for the C++ type T of `dtype`.
/// Throws: Unsupported, with the types that there are, if `dtype` is not in the list.
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

/// The same for a kernel whose backward has fewer types, `gradient_types`, than its forward.
template <class... Ts, class... Gs, class Make>
[[nodiscard]] std::unique_ptr<Kernel> kernel_for(Types<Ts...> types, Types<Gs...> gradient_types,
                                                 DType dtype, const PlanContext& context,
                                                 Make&& make) {
  if (context.wants_backward()) detail::expect_type(gradient_types, dtype, context, "gradient");
  return kernel_for(types, dtype, context, std::forward<Make>(make));
}

}  // namespace d5
