// SPDX-License-Identifier: Apache-2.0
// Sum, Mean, Min, Max: elementwise over any number of tensors, with broadcasting.
#include <algorithm>
#include <concepts>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/broadcast.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

using detail::GradientSum;
using detail::StridedLoop;
namespace nodes = onnx::nodes;

/// y = f(... f(f(x0, x1), x2) ...)
class Fold {
 public:
  explicit Fold(const PlanContext& context) : elements_(context.output(0).elements()) {
    const Shape& y = context.output(0).shape;
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      const Shape& before = i == 1 ? context.shape(0) : y;
      loops_.push_back(detail::broadcast_loop(y, {&before, &context.shape(i)}));
    }
  }

  template <class T, class F>
  void run(OpContext& context, F f) const {
    T* y = context.output(0).data<T>();
    const T* before = context.input(0).data<T>();
    if (loops_.empty() && before != y) std::copy_n(before, elements_, y);
    for (std::size_t i = 0; i < loops_.size(); ++i, before = y) {
      detail::apply_binary(loops_[i], y, before, context.input(i + 1).data<T>(),
                           [f](const T& a, const T& b) {
                             return T(f(detail::arithmetic(a), detail::arithmetic(b)));
                           });
    }
  }

 private:
  std::int64_t elements_;
  std::vector<StridedLoop> loops_;
};

/// Shapes: all inputs are broadcast to the output.
class Variadic : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    detail::expect_same_types(context, 0, context.input_count());
    return {
        TensorDesc{context.dtype(0), detail::broadcast_inputs(context, 0, context.input_count())}};
  }
  Places gradients() const override { return Places::all(); }
  Cost cost(const InferContext& context) const override {
    const TensorDesc y = infer(context)[0].tensor;
    return with_flop(context, steps(context.input_count()) * double(y.elements()));
  }

 private:
  /// Operations per output element.
  [[nodiscard]] virtual double steps(std::size_t inputs) const { return double(inputs) - 1; }
};

/// The sum, divided by `parts`.
template <class T>
class TotalKernel final : public Kernel {
 public:
  TotalKernel(const PlanContext& context, double parts)
      : fold_(context), elements_(context.output(0).elements()), parts_(parts) {
    if (!context.wants_backward()) return;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      sums_.emplace_back(context.output(0).shape, context.shape(i));
    }
  }

  void forward(OpContext& context) override {
    fold_.run<T>(context, [](T a, T b) { return a + b; });
    if (parts_ == 1) return;
    parallel_for(elements_, detail::kElementGrain,
                 [y = context.output(0).data<T>(), parts = T(parts_)](auto i, auto end) {
                   for (; i < end; ++i) y[i] /= parts;
                 });
  }

  void backward(GradContext& context) override {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (!context.wants_grad(i)) continue;
      sums_[i].run(context.grad_input(i).data<T>(), context.grad_output(0).data<T>(),
                   [slope = T(1 / parts_)](auto, auto) { return slope; });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 private:
  Fold fold_;
  std::int64_t elements_;
  double parts_;
  std::vector<GradientSum> sums_;
};

template <class View>
class Total final : public Variadic {
 public:
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      const double parts = kMean ? double(wide.input_count()) : 1.0;
      return std::make_unique<TotalKernel<T>>(wide, parts);
    });
  }

 private:
  static constexpr bool kMean = std::is_same_v<View, nodes::Mean>;
  double steps(std::size_t inputs) const override { return double(inputs) - (kMean ? 0 : 1); }
};

/// NaN wins.
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || a != a ? a : b;
  }
};

/// The gradient is divided equally among the inputs with the extreme value.
template <class F, class T>
class ExtremeKernel final : public Kernel {
 public:
  explicit ExtremeKernel(PlanContext& context)
      : fold_(context), elements_(context.output(0).elements()) {
    if (!context.wants_backward()) return;
    context.request_scratch(context.output(0).bytes());
    const Shape& y = context.output(0).shape;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      const Shape& x = context.shape(i);
      uses_.push_back(detail::broadcast_loop(y, {&x}));
      sums_.emplace_back(y, x, x, y);
    }
  }

  void forward(OpContext& context) override { fold_.run<T>(context, F()); }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      // dy divided by the number of inputs with the extreme value.
      T* share = context.scratch_as<T>();
      const T *y = context.output(0).data<T>(), *dy = context.grad_output(0).data<T>();
      std::fill_n(share, elements_, T(0));
      for (std::size_t i = 0; i < uses_.size(); ++i) {
        const T* x = context.input(i).data<T>();
        uses_[i].run([=, step = uses_[i].step(1)](const StridedLoop::Offsets& at, auto count) {
          for (std::int64_t k = 0; k < count; ++k) {
            share[at[0] + k] += T(x[at[1] + k * step] == y[at[0] + k]);
          }
        });
      }
      for (std::int64_t k = 0; k < elements_; ++k) {
        share[k] = share[k] > 0 ? dy[k] / share[k] : T(0);
      }
      for (std::size_t i = 0; i < sums_.size(); ++i) {
        if (!context.wants_grad(i)) continue;
        sums_[i].run(context.grad_input(i).data<T>(), share,
                     [=, x = context.input(i).data<T>()](auto at_x, auto at_y) {
                       return T(x[at_x] == y[at_y]);
                     });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override { return {.in_place_output = 0}; }

 private:
  Fold fold_;
  std::int64_t elements_;
  std::vector<StridedLoop> uses_;
  std::vector<GradientSum> sums_;
};

template <class F>
class Extreme final : public Variadic {
 public:
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<ExtremeKernel<F, T>>(context); });
  }
};

}  // namespace

void register_variadic(OperatorRegistry& registry) {
  registry.add<Total<nodes::Sum>, nodes::Sum>();
  registry.add<Total<nodes::Mean>, nodes::Mean>();
  registry.add<Extreme<Max>, nodes::Max>();
  registry.add<Extreme<Min>, nodes::Min>();
}

}  // namespace d5::ops
