// SPDX-License-Identifier: Apache-2.0
// Batch normalization, with given statistics or with those of the batch.
#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

struct BatchNormalizationAttributes {
  double epsilon, momentum;
  bool spatial, trains;
};

struct ChannelSizes {
  std::int64_t batch = 0, channels = 0, inner = 1;
};

template <class T>
class BatchNormalizationKernel final : public Kernel {
 public:
  BatchNormalizationKernel(const BatchNormalizationAttributes& attributes,
                           const ChannelSizes& sizes, PlanContext& context)
      : a_(attributes), s_(sizes) {
    if (a_.trains && context.wants_backward()) {
      statistics_ = context.save({DType::float64, {2, s_.channels}});
    }
  }

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    const T* scale = context.input(1).data<T>();
    const T* bias = context.input(2).data<T>();
    const T* mean = context.input(3).data<T>();
    const T* variance = context.input(4).data<T>();
    T* y = context.output(0).data<T>();
    double* kept = statistics_ ? context.saved(*statistics_).template data<double>() : nullptr;
    for_each_channel([&](std::int64_t c) {
      // In float64, because squares may exceed the range of float32.
      double m = double(mean[c]), v = double(variance[c]);
      if (a_.trains) {
        batch_statistics(x, c, m, v);
        write(context, 1, c, a_.momentum * double(mean[c]) + (1 - a_.momentum) * m);
        write(context, 2, c, a_.momentum * double(variance[c]) + (1 - a_.momentum) * v);
        write(context, 3, c, m);
        write(context, 4, c, v);
      }
      const double inverse = rounded(1 / std::sqrt(rounded(rounded(v) + a_.epsilon)));
      if (kept) {
        kept[c] = m;
        kept[s_.channels + c] = inverse;
      }
      const double factor = rounded(double(scale[c]) * inverse);
      for_each_run(c, [&](std::int64_t begin) {
        for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
          y[i] = T((double(x[i]) - m) * factor + double(bias[c]));
        }
      });
    });
  }

  void backward(GradContext& context) override {
    const T* x = context.input(0).data<T>();
    const T* scale = context.input(1).data<T>();
    const T* dy = context.grad_output(0).data<T>();
    for_each_channel([&](std::int64_t c) {
      double m, inverse;
      if (a_.trains) {
        const double* kept = context.saved(*statistics_).template data<double>();
        m = kept[c];
        inverse = kept[s_.channels + c];
      } else {
        m = double(context.input(3).data<T>()[c]);
        inverse =
            rounded(1 / std::sqrt(rounded(double(context.input(4).data<T>()[c]) + a_.epsilon)));
      }
      double sum = 0, product = 0;  // sums of dy, and of dy times the normalised x
      for_each_run(c, [&](std::int64_t begin) {
        for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
          sum += double(dy[i]);
          product += double(dy[i]) * rounded(rounded(double(x[i]) - m) * inverse);
        }
      });
      if (context.wants_grad(1)) context.grad_input(1).data<T>()[c] = T(product);
      if (context.wants_grad(2)) context.grad_input(2).data<T>()[c] = T(sum);
      if (!context.wants_grad(0)) return;
      // Subtracts the part through the batch's statistics, which depend on x.
      const double count = double(s_.batch) * double(s_.inner);
      const double a = a_.trains ? rounded(sum / count) : 0;
      const double b = a_.trains ? rounded(product / count) : 0;
      const double factor = rounded(double(scale[c]) * inverse);
      T* dx = context.grad_input(0).data<T>();
      for_each_run(c, [&](std::int64_t begin) {
        for (std::int64_t i = begin; i < begin + s_.inner; ++i) {
          const double normalised = rounded(rounded(double(x[i]) - m) * inverse);
          dx[i] = T(factor * rounded(rounded(double(dy[i]) - a) - rounded(normalised * b)));
        }
      });
    });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = a_.trains ? Places{0, 1} : Places{0, 1, 3, 4},
            .backward_reads_outputs = {}};
  }

 private:
  template <class F>
  void for_each_channel(F&& f) const {
    detail::parallel_for_each(s_.channels, s_.batch * s_.inner, 16384, f);
  }

  /// Calls `f(begin)` for each sample, with the begin of the channel's `inner` consecutive
  /// elements.
  template <class F>
  void for_each_run(std::int64_t c, F&& f) const {
    for (std::int64_t n = 0; n < s_.batch; ++n) f((n * s_.channels + c) * s_.inner);
  }

  /// `value` rounded to T if in range, so that results equal those of a kernel computing in T.
  static double rounded(double value) {
    const T held = T(value);
    const bool is_normal = std::isfinite(held) && std::fabs(held) >= std::numeric_limits<T>::min();
    return is_normal ? double(held) : value;
  }

  void batch_statistics(const T* x, std::int64_t c, double& mean, double& variance) const {
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
    mean = center;
    variance = squares / count;
  }

  static void write(OpContext& context, std::size_t output, std::int64_t c, double value) {
    if (context.wants_output(output)) context.output(output).data<T>()[c] = T(value);
  }

  BatchNormalizationAttributes a_;
  ChannelSizes s_;
  std::optional<std::size_t> statistics_;  // saved: means, then inverse deviations
};

/// y = scale (x - mean) / sqrt(var + epsilon) + b, with one mean and variance per channel
///
/// Shapes: x is N x C x any, scale, b, mean and var are C. In training, mean and var are the
/// batch's (divided by N, not N - 1), and the running statistics are additional outputs: momentum *
/// input + (1 - momentum) * batch's. Before opset 14, a node trains if it has more than one output
/// and `is_test` is not set; outputs 3 and 4 are the batch's statistics. Before opset 9, `spatial`
/// 0 makes every element of a sample a separate channel.
/// Source: Ioffe and Szegedy, "Batch Normalization" (2015).
class BatchNormalization final : public Operator {
 public:
  explicit BatchNormalization(const onnx::nodes::BatchNormalization& view) {
    const onnx::Node& node = view.node();
    attributes_.epsilon = view.epsilon();
    attributes_.momentum = view.momentum();
    attributes_.spatial = node.opset >= 9 || view.spatial() != 0;
    const bool several = node.has_output(1) || node.has_output(2);
    attributes_.trains = node.opset >= 14 ? view.training_mode() != 0
                                          : several && (node.opset >= 7 || view.is_test() == 0);
    if (several && !attributes_.trains) {
      throw ValueError(fmt::format("{}: running statistics are requested, but {}",
                                   onnx::describe(node),
                                   node.opset >= 14 ? "training_mode is 0" : "is_test is set"));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const ChannelSizes s = sizes(context);
    const std::initializer_list<std::string_view> names{"X", "scale", "B", "mean", "var"};
    for (std::size_t i = 1; i < names.size(); ++i) {
      // Without `spatial`, parameters have one element per element of a sample, in any shape.
      const Shape& given = context.shape(i);
      if (given.elements() != s.channels || (attributes_.spatial && given.rank() != 1)) {
        throw ShapeError(fmt::format("{}: {} is {}, expected {}, one per channel of {}",
                                     context.who(), names.begin()[i], to_string(given), s.channels,
                                     to_string(context.shape(0))));
      }
    }
    return {context.input(0), context.input(3), context.input(4), context.input(3),
            context.input(4)};
  }

  /// Excludes the given statistics, which are not trained by gradients.
  Places gradients() const override { return {0, 1, 2}; }

  /// x times a factor plus an offset; the statistics: a sum, a difference, a square and its sum.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(context.input(0).elements()) * (attributes_.trains ? 6 : 2));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<BatchNormalizationKernel<T>>(attributes_, sizes(wide), wide);
    });
  }

 private:
  ChannelSizes sizes(const InferContext& context) const {
    const Shape& x = context.shape(0);
    if (x.rank() == 0) {
      throw ShapeError(fmt::format("{}: X is a scalar, expected N x C or more", context.who()));
    }
    // Any number of empty samples.
    const std::int64_t batch = x.elements() == 0 ? 0 : x[0];
    if (!attributes_.spatial) return {batch, x.elements(1, x.rank()), 1};
    return {batch, x.rank() > 1 ? x[1] : 1, x.rank() > 2 ? x.elements(2, x.rank()) : 1};
  }

  BatchNormalizationAttributes attributes_;
};

}  // namespace

void register_batch_normalization(OperatorRegistry& registry) {
  registry.add<BatchNormalization, onnx::nodes::BatchNormalization>();
}

}  // namespace d5::ops
