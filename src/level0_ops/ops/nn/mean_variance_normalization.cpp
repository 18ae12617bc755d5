// SPDX-License-Identifier: Apache-2.0
// MeanVarianceNormalization: normalises to mean 0 and variance 1 along axes.
#include <cmath>
#include <concepts>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/reduction/reduction.hpp"

namespace d5::ops {
namespace {

using detail::ReductionLoops;
using detail::StridedLoop;

constexpr double kEpsilon = 1e-9;  // from ONNX; added to the deviation, not to the variance

/// A group consists of all elements with common statistics.
template <class T>
class MeanVarianceKernel final : public Kernel {
 public:
  explicit MeanVarianceKernel(const ReductionLoops& loops) : loops_(loops) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    for_each_group([&](std::int64_t start) {
      const Statistics s = statistics(x, start);
      for_each_of(start, [&](std::int64_t i) {
        y[i] = T(Arithmetic<T>((value(x[i]) - s.mean) / (s.deviation + kEpsilon)));
      });
    });
  }

  /// dx = (dy - mean of dy - (x - mean) slope) / (deviation + epsilon), where the slope is the sum
  /// of dy (x - mean), divided by count deviation (deviation + epsilon)
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = context.input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for_each_group([&](std::int64_t start) {
        const Statistics s = statistics(x, start);
        const double inverse = 1 / (s.deviation + kEpsilon);
        double sum = 0, product = 0;  // sums of dy, and of dy times x - mean
        for_each_of(start, [&](std::int64_t i) {
          sum += double(dy[i]);
          product += double(dy[i]) * (value(x[i]) - s.mean);
        });
        const double mean = sum / double(loops_.count);
        // If all of x are equal, the deviation does not affect y.
        const double slope =
            s.deviation > 0 ? product * inverse / (double(loops_.count) * s.deviation) : 0.0;
        for_each_of(start, [&](std::int64_t i) {
          dx[i] = T(inverse * (double(dy[i]) - mean - (value(x[i]) - s.mean) * slope));
        });
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  struct Statistics {
    double mean, deviation;
  };

  static double value(T x) { return double(Arithmetic<T>(x)); }

  Statistics statistics(const T* x, std::int64_t start) const {
    double sum = 0, squares = 0;
    for_each_of(start, [&](std::int64_t i) { sum += value(x[i]); });
    const double mean = sum / double(loops_.count);
    for_each_of(start,
                [&](std::int64_t i) { squares += (value(x[i]) - mean) * (value(x[i]) - mean); });
    return {mean, std::sqrt(squares / double(loops_.count))};
  }

  /// Calls `f(start)` with the begin of each group.
  template <class F>
  void for_each_group(const F& f) const {
    loops_.results.run(
        [&, step = loops_.results.step(1)](const StridedLoop::Offsets& at, std::int64_t groups) {
          for (std::int64_t i = 0; i < groups; ++i) f(at[1] + i * step);
        });
  }
  /// Calls `f(i)` for each element of the group that begins at `start`.
  template <class F>
  void for_each_of(std::int64_t start, const F& f) const {
    loops_.elements.run_in_order(
        [&, step = loops_.elements.step(0)](const StridedLoop::Offsets& at, std::int64_t count) {
          for (std::int64_t k = 0; k < count; ++k) f(start + at[0] + k * step);
        });
  }

  ReductionLoops loops_;
};

/// y = (x - mean) / (standard deviation + 1e-9)
///
/// Shapes: y as x. Without axes, all of x is one group.
class MeanVarianceNormalization final : public ElementwiseOperator {
 public:
  explicit MeanVarianceNormalization(const onnx::nodes::MeanVarianceNormalization& view)
      : axes_(view.axes()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)reduced_dims(context);
    return {context.input(0)};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const ReductionLoops loops(context.shape(0), reduced_dims(context));
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<MeanVarianceKernel<T>>(loops); });
  }

 protected:
  /// The mean's sum; a difference, its square and the sum of these; a quotient.
  double flop_per_element() const override { return 5; }

 private:
  std::vector<bool> reduced_dims(const InferContext& context) const {
    const std::size_t rank = context.shape(0).rank();
    std::vector<bool> result(rank, axes_.empty());
    for (const std::size_t d : detail::distinct_axes(axes_, rank, context.who())) result[d] = true;
    return result;
  }

  detail::Integers axes_;
};

}  // namespace

void register_mean_variance_normalization(OperatorRegistry& registry) {
  registry.add<MeanVarianceNormalization, onnx::nodes::MeanVarianceNormalization>();
}

}  // namespace d5::ops
