// SPDX-License-Identifier: Apache-2.0
// Causal depthwise convolution over time, with the previous inputs as a state.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/arithmetic_copy.hpp"
#include "level0_ops/kernels/expected_shape.hpp"
#include "level0_ops/kernels/gradient_memory.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using CausalConvWithStateView = onnx::nodes::CausalConvWithState;
using Input = CausalConvWithStateView::In;
using Out = CausalConvWithStateView::Out;

struct CausalConvSizes {
  std::int64_t batch, channels, length, kernel;
  [[nodiscard]] std::int64_t past() const { return kernel - 1; }
  [[nodiscard]] std::int64_t rows() const { return batch * channels; }
};

/// z[t] = b + sum over k of w[k] x[t - (kernel - 1) + k], where x is preceded by the past; y is z,
/// or z sigmoid(z) (SiLU).
template <class A>
class CausalConvKernel final : public Kernel {
 public:
  CausalConvKernel(const CausalConvSizes& sizes, bool activates, PlanContext& context,
                   std::int64_t scratch = 0)
      : s_(sizes),
        activates_(activates),
        x_(context, Input::input, scratch),
        w_(context, Input::weight, scratch),
        b_(context, Input::bias, scratch),
        past_(context, Input::past_state, scratch),
        y_(context, Out::output, scratch),
        present_(context, Out::present_state, scratch) {
    context.request_scratch(std::size_t(scratch) * sizeof(A));
  }

  void forward(OpContext& context) override {
    A* scratch = context.scratch_as<A>();
    const Inputs in = read(context, scratch);
    A* y = y_.memory(context, scratch);
    A* present = present_.memory(context, scratch);
    detail::parallel_for_each(s_.rows(), s_.length * s_.kernel, 16384, [&](std::int64_t r) {
      for (std::int64_t t = 0; y && t < s_.length; ++t) {
        const A z = sum(in, r, t);
        y[r * s_.length + t] = activates_ ? z * sigmoid(z) : z;
      }
      for (std::int64_t i = 0; present && i < s_.past(); ++i) {
        present[r * s_.past() + i] = at(in, r, s_.length - s_.past() + i);
      }
    });
    y_.finish(context, scratch);
    present_.finish(context, scratch);
  }

  void backward(GradContext& context) override {
    const Inputs in = read(context, context.scratch_as<A>());
    const auto arriving = [&](std::size_t i) { return detail::arriving_gradient<A>(context, i); };
    const auto wanted = [&](std::size_t i) { return detail::zeroed_gradient<A>(context, i); };
    const Gradients d{.y = arriving(Out::output),
                      .present = arriving(Out::present_state),
                      .x = wanted(Input::input),
                      .w = wanted(Input::weight),
                      .bias = wanted(Input::bias),
                      .past = wanted(Input::past_state)};
    // All samples of a channel share its weights.
    detail::parallel_for_each(s_.channels, s_.batch * s_.length * s_.kernel, 16384,
                              [&](std::int64_t c) {
                                for (std::int64_t n = 0; n < s_.batch; ++n) {
                                  run_back(in, d, n * s_.channels + c);
                                }
                              });
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {Input::input, Input::weight, Input::bias, Input::past_state},
            .backward_reads_outputs = {}};
  }

 private:
  struct Inputs {
    const A *x, *w, *bias, *past;  ///< the last two may be null
  };
  template <class Context>
  Inputs read(const Context& context, A* scratch) const {
    return {x_.read(context, scratch), w_.read(context, scratch), b_.read(context, scratch),
            past_.read(context, scratch)};
  }
  /// Row `r` at time `t`, which may be in the past.
  A at(const Inputs& in, std::int64_t r, std::int64_t t) const {
    if (t >= 0) return in.x[r * s_.length + t];
    return in.past ? in.past[r * s_.past() + s_.past() + t] : A(0);
  }

  /// Output gradients, and requested input gradients; null if absent.
  struct Gradients {
    const A *y, *present;
    A *x, *w, *bias, *past;
  };
  void run_back(const Inputs& in, const Gradients& d, std::int64_t r) const {
    const std::int64_t c = r % s_.channels;
    const auto add = [&](std::int64_t t, A value) {
      if (t >= 0) {
        if (d.x) d.x[r * s_.length + t] += value;
      } else if (d.past) {
        d.past[r * s_.past() + s_.past() + t] += value;
      }
    };
    for (std::int64_t i = 0; d.present && i < s_.past(); ++i) {
      add(s_.length - s_.past() + i, d.present[r * s_.past() + i]);
    }
    for (std::int64_t t = 0; d.y && t < s_.length; ++t) {
      A dz = d.y[r * s_.length + t];
      if (activates_) {
        const A z = sum(in, r, t), s = sigmoid(z);
        dz *= s * (A(1) + z * (A(1) - s));
      }
      if (d.bias) d.bias[c] += dz;
      for (std::int64_t k = 0; k < s_.kernel; ++k) {
        const std::int64_t from = t - s_.past() + k;
        if (d.w) d.w[c * s_.kernel + k] += dz * at(in, r, from);
        add(from, dz * in.w[c * s_.kernel + k]);
      }
    }
  }

  A sum(const Inputs& in, std::int64_t r, std::int64_t t) const {
    const std::int64_t c = r % s_.channels;
    A result = in.bias ? in.bias[c] : A(0);
    for (std::int64_t k = 0; k < s_.kernel; ++k) {
      result += in.w[c * s_.kernel + k] * at(in, r, t - s_.past() + k);
    }
    return result;
  }
  static A sigmoid(A z) { return A(1) / (A(1) + std::exp(-z)); }

  CausalConvSizes s_;
  bool activates_;
  detail::InputAs<A> x_, w_, b_, past_;
  detail::OutputAs<A> y_, present_;
};

/// Shapes: x and y are N x C x L, w is C x 1 x K, b is C, past and present are N x C x (K - 1).
class CausalConvWithState final : public Operator {
 public:
  explicit CausalConvWithState(const CausalConvWithStateView& view) {
    const std::string activation = view.activation();
    if (activation != "none" && activation != "silu" && activation != "swish") {
      throw ValueError(fmt::format("{}: activation is '{}', expected none, silu or swish",
                                   onnx::describe(view.node()), printable(activation)));
    }
    activates_ = activation != "none";
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const CausalConvSizes s = sizes(context);
    return {context.input(Input::input),
            TensorDesc{context.dtype(Input::input), {s.batch, s.channels, s.past()}}};
  }

  Places gradients() const override {
    return {Input::input, Input::weight, Input::bias, Input::past_state};
  }

  /// A product and a sum per weight and position; the bias; the activation's five operations.
  Cost cost(const InferContext& context) const override {
    const CausalConvSizes s = sizes(context);
    return with_flop(context,
                     double(s.rows()) * double(s.length) *
                         (2.0 * double(s.kernel) + (context.has_input(Input::bias) ? 1 : 0) +
                          (activates_ ? 5 : 0)));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(Input::input), context,
                      [&]<class T>() {
                        return std::make_unique<CausalConvKernel<Arithmetic<T>>>(
                            sizes(context), activates_, context);
                      });
  }

 private:
  static CausalConvSizes sizes(const InferContext& context) {
    const Shape &x = context.shape(Input::input), &w = context.shape(Input::weight);
    if (x.rank() != 3 || w.rank() != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1) {
      throw ShapeError(
          fmt::format("{}: input is {} and weight is {}, expected N x C x L and C x 1 "
                      "x K with a K of 1 or more",
                      context.who(), to_string(x), to_string(w)));
    }
    const CausalConvSizes s{x[0], x[1], x[2], w[2]};
    detail::expect_shape(context, Input::bias, "bias", {s.channels});
    detail::expect_shape(context, Input::past_state, "past_state", {s.batch, s.channels, s.past()});
    return s;
  }

  bool activates_ = false;
};

}  // namespace

void register_causal_conv_with_state(OperatorRegistry& registry) {
  registry.add<CausalConvWithState, CausalConvWithStateView>();
}

}  // namespace d5::ops
