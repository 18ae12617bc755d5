// SPDX-License-Identifier: Apache-2.0
// Local response normalization across channels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

struct LrnAttributes {
  double alpha, beta, bias;
  std::int64_t size;
};

template <class T>
class LrnKernel final : public Kernel {
 public:
  LrnKernel(const LrnAttributes& attributes, const Shape& x)
      : a_(attributes),
        batch_(x.elements() == 0 ? 0 : x[0]),
        channels_(x[1]),
        inner_(x.elements(2, x.rank())) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    for_each_channel([&](std::int64_t sample, std::int64_t c) {
      for (std::int64_t i = 0; i < inner_; ++i) {
        const std::int64_t place = sample + c * inner_ + i;
        y[place] = T(double(x[place]) * std::pow(scale(x + sample + i, c), -a_.beta));
      }
    });
  }

  /// dx_c = dy_c s_c^-beta - 2 alpha beta / size x_c sum of dy_j y_j / s_j over the channels j
  /// whose window contains c
  void backward(GradContext& context) override {
    const T* x = context.input(0).data<T>();
    const T* y = context.output(0).data<T>();
    const T* dy = context.grad_output(0).data<T>();
    T* dx = context.grad_input(0).data<T>();
    for_each_channel([&](std::int64_t sample, std::int64_t c) {
      // c is in the window of j if j - before <= c <= j + after.
      const std::int64_t begin = std::max<std::int64_t>(0, c - after());
      const std::int64_t end = std::min(channels_, c + before() + 1);
      for (std::int64_t i = 0; i < inner_; ++i) {
        double sum = 0;
        for (std::int64_t j = begin; j < end; ++j) {
          const std::int64_t place = sample + j * inner_ + i;
          sum += double(dy[place]) * double(y[place]) / scale(x + sample + i, j);
        }
        const std::int64_t place = sample + c * inner_ + i;
        dx[place] = T(double(dy[place]) * std::pow(scale(x + sample + i, c), -a_.beta) -
                      2 * a_.alpha * a_.beta / double(a_.size) * double(x[place]) * sum);
      }
    });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {0}};
  }

 private:
  /// An even size extends one channel farther up than down.
  std::int64_t before() const { return (a_.size - 1) / 2; }
  std::int64_t after() const { return a_.size - 1 - before(); }

  /// `x` is the first channel at a position. In float64, which can represent squares of float32.
  double scale(const T* x, std::int64_t c) const {
    double sum = 0;
    const std::int64_t end = std::min(channels_, c + after() + 1);
    for (std::int64_t j = std::max<std::int64_t>(0, c - before()); j < end; ++j) {
      sum += double(x[j * inner_]) * double(x[j * inner_]);
    }
    return a_.bias + a_.alpha / double(a_.size) * sum;
  }

  /// Calls `f(sample, c)` with the sample's begin and the channel.
  template <class F>
  void for_each_channel(F&& f) const {
    detail::parallel_for_each(batch_ * channels_, inner_, 1024, [&](std::int64_t i) {
      f(i / channels_ * channels_ * inner_, i % channels_);
    });
  }

  LrnAttributes a_;
  std::int64_t batch_, channels_, inner_;
};

/// y = x s^-beta, s = bias + alpha / size * sum of x^2 over the `size` channels around the
/// element's
///
/// Shapes: y as x, N x C x any.
/// Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks".
class Lrn final : public ElementwiseOperator {
 public:
  explicit Lrn(const onnx::nodes::LRN& view)
      : attributes_{view.alpha(), view.beta(), view.bias(), view.size()} {
    if (attributes_.size < 1) {
      throw ValueError(fmt::format("{}: size is {}, expected 1 or more",
                                   onnx::describe(view.node()), attributes_.size));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.shape(0).rank() < 2) {
      throw ShapeError(fmt::format("{}: input is {}, expected N x C or more", context.who(),
                                   to_string(context.shape(0))));
    }
    return {context.input(0)};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<LrnKernel<T>>(attributes_, wide.shape(0));
    });
  }

 protected:
  /// A square and a sum per channel of the window; a factor, an offset, a power, a product.
  double flop_per_element() const override { return 2.0 * double(attributes_.size) + 4; }

 private:
  LrnAttributes attributes_;
};

}  // namespace

void register_lrn(OperatorRegistry& registry) { registry.add<Lrn, onnx::nodes::LRN>(); }

}  // namespace d5::ops
