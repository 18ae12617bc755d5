// SPDX-License-Identifier: Apache-2.0
// Local response normalization across channels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/parallel_each.hpp"

namespace d5::ops {
namespace {

/// y = x s^-beta, s = bias + alpha / size * sum of x^2 over the `size` channels around one's own
///
/// Shapes: y as x, N x C x any.
/// Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks".
class Lrn final : public Operator {
 public:
  explicit Lrn(const onnx::Node& node) {
    const onnx::nodes::LRN view(node);
    alpha_ = view.alpha();
    beta_ = view.beta();
    bias_ = view.bias();
    size_ = view.size();
    if (size_ < 1) {
      throw ValueError(
          fmt::format("{}: size is {}, expected 1 or more", onnx::describe(node), size_));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.shape(0).rank() < 2) {
      throw ShapeError(fmt::format("{}: input is {}, expected N x C or more", context.who(),
                                   to_string(context.shape(0))));
    }
    return {context.input(0)};
  }

  void plan(PlanContext& context) override {
    const Shape& x = context.shape(0);
    batch_ = x.elements() == 0 ? 0 : x[0];
    channels_ = x[1];
    inner_ = x.elements(2, x.rank());
  }

  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      T* y = context.output(0).data<T>();
      for_each_channel([&](std::int64_t sample, std::int64_t c) {
        for (std::int64_t i = 0; i < inner_; ++i) {
          const std::int64_t place = sample + c * inner_ + i;
          y[place] = x[place] * std::pow(scale(x + sample + i, c), T(-beta_));
        }
      });
    });
  }

  /// dx_c = dy_c s_c^-beta - 2 alpha beta / size x_c sum of dy_j y_j / s_j over the channels j
  /// whose window holds c
  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      const T* y = context.output(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for_each_channel([&](std::int64_t sample, std::int64_t c) {
        // c lies in the window of j where j - before <= c <= j + after.
        const std::int64_t begin = std::max<std::int64_t>(0, c - after());
        const std::int64_t end = std::min(channels_, c + before() + 1);
        for (std::int64_t i = 0; i < inner_; ++i) {
          T sum = 0;
          for (std::int64_t j = begin; j < end; ++j) {
            const std::int64_t place = sample + j * inner_ + i;
            sum += dy[place] * y[place] / scale(x + sample + i, j);
          }
          const std::int64_t place = sample + c * inner_ + i;
          dx[place] = dy[place] * std::pow(scale(x + sample + i, c), T(-beta_)) -
                      T(2 * alpha_ * beta_ / double(size_)) * x[place] * sum;
        }
      });
    });
  }

  bool differentiable(std::size_t) const override { return true; }

 private:
  /// An even size reaches one channel farther up than down.
  std::int64_t before() const { return (size_ - 1) / 2; }
  std::int64_t after() const { return size_ - 1 - before(); }

  /// `x` is one position's first channel.
  template <class T>
  T scale(const T* x, std::int64_t c) const {
    T sum = 0;
    const std::int64_t end = std::min(channels_, c + after() + 1);
    for (std::int64_t j = std::max<std::int64_t>(0, c - before()); j < end; ++j) {
      sum += x[j * inner_] * x[j * inner_];
    }
    return T(bias_) + T(alpha_ / double(size_)) * sum;
  }

  /// `f(sample, c)`: where the sample begins, and the channel.
  template <class F>
  void for_each_channel(F&& f) const {
    detail::parallel_for_each(batch_ * channels_, inner_, 1024, [&](std::int64_t i) {
      f(i / channels_ * channels_ * inner_, i % channels_);
    });
  }

  double alpha_, beta_, bias_;
  std::int64_t size_;
  // Of the plan:
  std::int64_t batch_ = 0, channels_ = 0, inner_ = 1;
};

}  // namespace

void register_lrn(OperatorRegistry& registry) { registry.add<Lrn>("LRN"); }

}  // namespace d5::ops
