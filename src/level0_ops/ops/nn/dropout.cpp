// SPDX-License-Identifier: Apache-2.0
// Dropout: sets random elements to zero, and scales the others to keep the mean.
#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <random>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using DropoutView = onnx::nodes::Dropout;
using DroppedTypes =
    Join<FloatTypes, Types<Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>>;

/// Uniform numbers in [0, 1) as in NumPy's RandomState: 53 bits from two words.
class NumpyStream {
 public:
  explicit NumpyStream(std::int64_t seed) : engine_(std::uint32_t(seed)) {}
  double uniform_double() {
    const std::uint32_t high = std::uint32_t(engine_()) >> 5, low = std::uint32_t(engine_()) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

 private:
  std::mt19937 engine_;
};

/// The node's attributes.
struct Attributes {
  explicit Attributes(const DropoutView& view)
      : opset(view.node().opset), seed(view.seed()), is_test(opset < 7 && view.is_test() != 0) {
    if (opset < 12) ratio = view.ratio();
  }
  int opset;
  std::optional<std::int64_t> seed;
  double ratio = 0.5;
  bool is_test;
};

template <class T>
class DropoutKernel final : public Kernel {
 public:
  DropoutKernel(const Attributes& attributes, PlanContext& context)
      : attributes_(attributes), elements_(context.shape(0).elements()) {
    if (context.has_input(DropoutView::In::ratio)) {
      read_ratio_.emplace(context.dtype(DropoutView::In::ratio), DType::float64);
    }
    if (context.wants_backward()) factors_ = context.save(context.input(0));
  }

  void forward(OpContext& context) override {
    const double r = ratio(context);
    if (r == 0 || !drops(context)) {
      apply(context, A(1), [] { return true; });
    } else if (attributes_.seed && context.mode() == Mode::inference) {
      drop(context, r, NumpyStream(*attributes_.seed));
    } else {
      drop(context, r, context.services().random());
    }
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* factors = context.saved(*factors_).template data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for (std::int64_t i = 0; i < elements_; ++i) {
        dx[i] = factors[i] == 0 ? T(0) : dy[i] * factors[i];
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  using A = Arithmetic<T>;

  double ratio(const OpContext& context) const {
    double result = attributes_.ratio;
    if (read_ratio_) read_ratio_->run(&result, context.input(DropoutView::In::ratio).raw(), 1);
    if (!(result >= 0 && result < 1)) {
      throw ValueError(
          fmt::format("{}: ratio is {}, expected 0 <= ratio < 1", context.who(), result));
    }
    return result;
  }

  bool drops(const OpContext& context) const {
    if (attributes_.opset < 12) return context.mode() == Mode::training && !attributes_.is_test;
    return context.has_input(DropoutView::In::training_mode) &&
           context.input(DropoutView::In::training_mode).item<bool>();
  }

  template <class Random>
  void drop(OpContext& context, double r, Random random) const {
    apply(context, A(1 / (1 - r)), [&] { return random.uniform_double() >= r; });
  }

  /// Multiplies the kept elements by `factor`; calls `keep` once per element, in order.
  template <class Keep>
  void apply(OpContext& context, A factor, Keep keep) const {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    T* factors = factors_ ? context.saved(*factors_).template data<T>() : nullptr;
    Tensor* mask = context.wants_output(1) ? &context.output(1) : nullptr;
    bool* flags = mask && attributes_.opset >= 10 ? mask->data<bool>() : nullptr;
    T* numbers = mask && attributes_.opset < 10 ? mask->data<T>() : nullptr;
    for (std::int64_t i = 0; i < elements_; ++i) {
      const bool kept = keep();
      y[i] = kept ? T(A(x[i]) * factor) : T(A(0));  // zero even for NaN
      if (factors) factors[i] = T(kept ? factor : A(0));
      if (flags) flags[i] = kept;
      if (numbers) numbers[i] = T(A(kept ? 1 : 0));
    }
  }

  const Attributes& attributes_;
  std::int64_t elements_;
  std::optional<detail::Conversion> read_ratio_;
  std::optional<std::size_t> factors_;  // saved: the factor of each element
};

/// y = x mask / (1 - ratio), where the mask is 0 with probability `ratio`; y = x in inference.
///
/// Shapes: y and mask as x; ratio and training_mode are scalars. From opset 12 on, the input
/// training_mode enables dropping; before, `Mode::training` does. Random numbers are the executor's
/// for this node and run. In inference mode with a `seed` they are those of ONNX's reference,
/// NumPy's RandomState(seed), for comparison with its tests.
/// Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
class Dropout final : public ElementwiseOperator {
 public:
  explicit Dropout(const DropoutView& view) : attributes_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (const std::size_t i : {DropoutView::In::ratio, DropoutView::In::training_mode}) {
      if (context.has_input(i) && context.shape(i).elements() != 1) {
        throw ShapeError(fmt::format("{}: input {} is {}, expected one element", context.who(), i,
                                     to_string(context.shape(i))));
      }
    }
    const TensorDesc& x = context.input(0);
    return {x, TensorDesc{attributes_.opset < 10 ? x.dtype : DType::boolean, x.shape}};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.has_input(DropoutView::In::ratio)) {
      detail::expect_type(DroppedTypes{}, context.dtype(DropoutView::In::ratio), context, "ratio");
    }
    return kernel_for(DroppedTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<DropoutKernel<T>>(attributes_, context);
    });
  }

 private:
  Attributes attributes_;
};

}  // namespace

void register_dropout(OperatorRegistry& registry) { registry.add<Dropout, DropoutView>(); }

}  // namespace d5::ops
