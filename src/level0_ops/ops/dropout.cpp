// SPDX-License-Identifier: Apache-2.0
// Dropout: some elements become zero, at random; the others grow, so that the mean stays.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

/// y = x mask / (1 - ratio), the mask 0 with probability `ratio`; y = x when not training.
///
/// Shapes: y and mask as x. From opset 12 the input training_mode says whether it drops; before,
/// `Mode::training` does. Random numbers are the executor's, of this node and run, except in
/// inference mode with `seed` given: then they are those of ONNX's reference, NumPy's
/// RandomState(seed), so that its tests can be compared with.
/// Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
class Dropout final : public Operator {
 public:
  explicit Dropout(const onnx::Node& node) : opset_(node.opset) {
    const onnx::nodes::Dropout view(node);
    seed_ = view.seed();
    if (opset_ < 12) ratio_ = view.ratio();
    is_test_ = opset_ < 7 && view.is_test() != 0;
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(0);
    return {x, TensorDesc{opset_ < 10 ? x.dtype : DType::boolean, x.shape}};
  }

  void plan(PlanContext& context) override {
    // What each element was multiplied with.
    factors_ = context.save(context.input(0));
    if (context.mode() == Mode::inference) context.request_scratch(context.input(0).bytes());
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(FloatTypes{}, x.dtype(), context.who(), [&]<class T>() {
      using A = Arithmetic<T>;
      T* factors = context.mode() == Mode::training ? context.saved(factors_).data<T>()
                                                    : context.scratch_as<T>();
      fill(context, factors, x.elements());
      const T* from = x.data<T>();
      T* to = context.output(0).data<T>();
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        // A dropped element is zero even if it was not a number.
        to[i] = A(factors[i]) == 0 ? T(A(0)) : T(A(from[i]) * A(factors[i]));
      }
      if (!context.wants_output(1)) return;
      Tensor& mask = context.output(1);
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        const bool kept = A(factors[i]) != 0;
        if (mask.dtype() == DType::boolean) {
          mask.data<bool>()[i] = kept;
        } else {
          mask.data<T>()[i] = T(A(kept ? 1 : 0));
        }
      }
    });
  }

  void backward(GradContext& context) override {
    const Tensor& gradient = context.grad_output(0);
    dispatch(RealTypes{}, gradient.dtype(), context.who(), [&]<class T>() {
      const T* factors = context.saved(factors_).data<T>();
      const T* dy = gradient.data<T>();
      T* dx = context.grad_input(0).data<T>();
      for (std::int64_t i = 0; i < gradient.elements(); ++i) {
        dx[i] = factors[i] == 0 ? T(0) : dy[i] * factors[i];
      }
    });
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  /// Uniform in [0, 1) as NumPy's RandomState draws it: 53 bits from two words.
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

  double ratio(const OpContext& context) const {
    double result = ratio_;
    if (context.has_input(1)) {
      const Tensor& given = context.input(1);
      dispatch(FloatTypes{}, given.dtype(), context.who(),
               [&]<class T>() { result = double(Arithmetic<T>(given.item<T>())); });
    }
    if (!(result >= 0 && result < 1)) {
      throw ValueError(
          fmt::format("{}: ratio is {}, expected 0 <= ratio < 1", context.who(), result));
    }
    return result;
  }

  bool drops(const OpContext& context) const {
    if (opset_ < 12) return context.mode() == Mode::training && !is_test_;
    return context.has_input(2) && context.input(2).item<bool>();
  }

  template <class T>
  void fill(OpContext& context, T* factors, std::int64_t count) const {
    const double r = ratio(context);
    if (r == 0 || !drops(context)) {
      std::fill_n(factors, count, T(Arithmetic<T>(1)));
      return;
    }
    const T kept = T(Arithmetic<T>(1 / (1 - r)));
    const auto draw = [&](auto random) {
      for (std::int64_t i = 0; i < count; ++i) {
        factors[i] = random.uniform_double() >= r ? kept : T(Arithmetic<T>(0));
      }
    };
    if (seed_ && context.mode() == Mode::inference) {
      draw(NumpyStream(*seed_));
    } else {
      draw(context.services().random());
    }
  }

  int opset_;
  std::optional<std::int64_t> seed_;
  double ratio_ = 0.5;
  bool is_test_ = false;
  std::size_t factors_ = 0;
};

}  // namespace

void register_dropout(OperatorRegistry& registry) { registry.add<Dropout>("Dropout"); }

}  // namespace d5::ops
