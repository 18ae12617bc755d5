// SPDX-License-Identifier: Apache-2.0
// Batch normalization, with given statistics or with those of the batch.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/parallel_each.hpp"

namespace d5::ops {
namespace {

/// y = scale (x - mean) / sqrt(var + epsilon) + b, one mean and variance a channel
///
/// Shapes: x is N x C x any, scale, b, mean and var are C. While training, mean and var are those
/// of the batch (divided by N, not N - 1), and the running ones come out beside y:
/// `momentum` times what came in, plus the rest of the batch's. Before opset 14 a node trains if it
/// has more than one output and `is_test` is not set; outputs 3 and 4 are the batch's statistics.
/// Before opset 9, `spatial` 0 makes every element of a sample a channel of its own.
/// Source: Ioffe and Szegedy, "Batch Normalization" (2015).
class BatchNormalization final : public Operator {
 public:
  explicit BatchNormalization(const onnx::Node& node) {
    const onnx::nodes::BatchNormalization view(node);
    epsilon_ = view.epsilon();
    momentum_ = view.momentum();
    spatial_ = node.opset >= 9 || view.spatial() != 0;
    const bool several = node.has_output(1) || node.has_output(2);
    trains_ = node.opset >= 14 ? view.training_mode() != 0
                               : several && (node.opset >= 7 || view.is_test() == 0);
    if (several && !trains_) {
      throw ValueError(fmt::format("{}: running statistics are asked for, but {}",
                                   onnx::describe(node),
                                   node.opset >= 14 ? "training_mode is 0" : "is_test is set"));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Sizes s = sizes(context);
    constexpr std::array<std::string_view, 5> kNames{"X", "scale", "B", "mean", "var"};
    for (std::size_t i = 1; i < kNames.size(); ++i) {
      if (context.input(i).elements() != s.channels) {
        throw ShapeError(fmt::format("{}: {} is {}, expected {}, one a channel of {}",
                                     context.who(), kNames[i], to_string(context.shape(i)),
                                     s.channels, to_string(context.shape(0))));
      }
      if (context.dtype(i) != context.dtype(0)) {
        throw TypeError(fmt::format("{}: {} is {}, but X is {}", context.who(), kNames[i],
                                    name_of(context.dtype(i)), name_of(context.dtype(0))));
      }
    }
    return {context.input(0), context.input(3), context.input(4), context.input(3),
            context.input(4)};
  }

  void plan(PlanContext& context) override {
    s_ = sizes(context);
    if (trains_) statistics_ = context.save({context.dtype(0), {2, s_.channels}});
  }

  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      const T* scale = context.input(1).data<T>();
      const T* bias = context.input(2).data<T>();
      const T* mean = context.input(3).data<T>();
      const T* variance = context.input(4).data<T>();
      T* y = context.output(0).data<T>();
      for_each_channel([&](std::int64_t c) {
        T m = mean[c], v = variance[c];
        if (trains_) {
          batch_statistics(x, c, m, v);
          write(context, 1, c, T(momentum_) * mean[c] + T(1 - momentum_) * m);
          write(context, 2, c, T(momentum_) * variance[c] + T(1 - momentum_) * v);
          write(context, 3, c, m);
          write(context, 4, c, v);
        }
        const T inverse = T(1) / std::sqrt(v + T(epsilon_));
        if (trains_ && context.mode() == Mode::training) {
          T* kept = context.saved(statistics_).template data<T>();
          kept[c] = m;
          kept[s_.channels + c] = inverse;
        }
        const T factor = scale[c] * inverse;
        for_each_run(c, [&](std::int64_t begin) {
          for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
            y[i] = (x[i] - m) * factor + bias[c];
          }
        });
      });
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      const T* scale = context.input(1).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      for_each_channel([&](std::int64_t c) {
        T m, inverse;
        if (trains_) {
          const T* kept = context.saved(statistics_).template data<T>();
          m = kept[c];
          inverse = kept[s_.channels + c];
        } else {
          m = context.input(3).data<T>()[c];
          inverse = T(1) / std::sqrt(context.input(4).data<T>()[c] + T(epsilon_));
        }
        double sum = 0, product = 0;  // of dy; of dy and the normalised x
        for_each_run(c, [&](std::int64_t begin) {
          for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
            sum += double(dy[i]);
            product += double(dy[i]) * double((x[i] - m) * inverse);
          }
        });
        if (context.wants_grad(1)) context.grad_input(1).data<T>()[c] = T(product);
        if (context.wants_grad(2)) context.grad_input(2).data<T>()[c] = T(sum);
        if (!context.wants_grad(0)) return;
        // The batch's own statistics depend on x: their share is taken off.
        const double count = double(s_.batch) * double(s_.inner);
        const T a = trains_ ? T(sum / count) : T(0), b = trains_ ? T(product / count) : T(0);
        T* dx = context.grad_input(0).data<T>();
        for_each_run(c, [&](std::int64_t begin) {
          for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
            dx[i] = scale[c] * inverse * (dy[i] - a - (x[i] - m) * inverse * b);
          }
        });
      });
    });
  }

  /// Not for the given statistics: training does not move them by gradients.
  bool differentiable(std::size_t input) const override { return input < 3; }
  bool backward_needs_input(std::size_t input) const override {
    return input < 2 || (input > 2 && !trains_);
  }
  bool backward_needs_output(std::size_t) const override { return false; }

  Cost cost(const InferContext& context) const override {
    Cost cost = Operator::cost(context);
    // x times a factor plus an offset; the statistics: a sum, a difference, a square and its sum.
    cost.flop = double(context.input(0).elements()) * (trains_ ? 6 : 2);
    return cost;
  }

 private:
  struct Sizes {
    std::int64_t batch = 0, channels = 0, inner = 1;
  };

  Sizes sizes(const InferContext& context) const {
    const Shape& x = context.shape(0);
    if (x.rank() == 0) {
      throw ShapeError(fmt::format("{}: X is a scalar, expected N x C or more", context.who()));
    }
    // However many samples: none holds anything.
    const std::int64_t batch = x.elements() == 0 ? 0 : x[0];
    if (!spatial_) return {batch, x.elements(1, x.rank()), 1};
    return {batch, x.rank() > 1 ? x[1] : 1, x.rank() > 2 ? x.elements(2, x.rank()) : 1};
  }

  template <class F>
  void for_each_channel(F&& f) const {
    detail::parallel_for_each(s_.channels, s_.batch * s_.inner, 16384, f);
  }

  /// `f(begin)` for each sample: where the channel's `inner` neighbours begin.
  template <class F>
  void for_each_run(std::int64_t c, F&& f) const {
    for (std::int64_t n = 0; n < s_.batch; ++n) f((n * s_.channels + c) * s_.inner);
  }

  template <class T>
  void batch_statistics(const T* x, std::int64_t c, T& mean, T& variance) const {
    const double count = double(s_.batch) * double(s_.inner);
    double sum = 0;
    for_each_run(c, [&](std::int64_t begin) {
      for (std::int64_t i = begin; i < begin + s_.inner; ++i) sum += double(x[i]);
    });
    const double center = sum / count;
    double squares = 0;
    for_each_run(c, [&](std::int64_t begin) {
      for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
        squares += (double(x[i]) - center) * (double(x[i]) - center);
      }
    });
    mean = T(center);
    variance = T(squares / count);
  }

  template <class T>
  static void write(OpContext& context, std::size_t output, std::int64_t c, T value) {
    if (context.wants_output(output)) context.output(output).data<T>()[c] = value;
  }

  double epsilon_, momentum_;
  bool spatial_, trains_;
  // Of the plan:
  Sizes s_;
  std::size_t statistics_ = 0;
};

}  // namespace

void register_batch_normalization(OperatorRegistry& registry) {
  registry.add<BatchNormalization>("BatchNormalization");
}

}  // namespace d5::ops
