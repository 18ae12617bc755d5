// SPDX-License-Identifier: Apache-2.0
// DFT: the discrete Fourier transform of every line along an axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/chunks.hpp"
#include "level0_ops/kernels/fourier_transform.hpp"

namespace d5::ops {
namespace {

using DFTView = onnx::nodes::DFT;

/// DFT's attributes and inputs, resolved.
struct DftProblem {
  std::int64_t outer = 0, inner = 0;  ///< sizes of the dimensions before and after the axis
  std::int64_t x_length = 0, y_length = 0, n = 0;
  std::int64_t x_parts = 1, y_parts = 2;  ///< 1: real
  bool inverse = false;
  bool onesided = false;
};

/// Length of the half spectrum of a real signal.
std::int64_t half(std::int64_t n) { return n / 2 + 1; }

/// Transform of lines of one tensor to lines of another, with n numbers in between.
struct LineTransform {
  struct Lines {
    std::int64_t length = 0, parts = 1;
  };
  Lines from, to;
  bool inverse = false;  ///< exp(+2 pi i k t / n)
  double factor = 1;
  bool mirrors = false;  ///< `from` is a half spectrum
  bool doubles = false;  ///< the transpose of that: elements that represent two count twice
};

LineTransform forward_of(const DftProblem& p) {
  return {.from = {p.x_length, p.x_parts},
          .to = {p.y_length, p.y_parts},
          .inverse = p.inverse,
          .factor = p.inverse ? 1 / double(p.n) : 1,
          .mirrors = p.inverse && p.onesided};
}

/// The transpose of the real-linear map, with the opposite direction.
LineTransform transpose_of(const DftProblem& p) {
  const LineTransform forward = forward_of(p);
  return {.from = forward.to,
          .to = forward.from,
          .inverse = !forward.inverse,
          .factor = forward.factor,
          .doubles = forward.mirrors};
}

template <class T>
class DftKernel final : public Kernel {
  using A = Arithmetic<T>;
  using Complex = detail::FourierTransform::Complex;

 public:
  DftKernel(const DftProblem& problem, PlanContext& context) : p_(problem) {
    if (p_.outer * p_.inner == 0) return;
    transform_.emplace(p_.n);
    chunks_ = detail::Chunks(p_.outer * p_.inner,
                             double(p_.outer * p_.inner) * double(p_.n) * std::log2(double(p_.n)));
    context.request_scratch(sizeof(Complex) * std::size_t(chunks_.count() * chunk_length()));
  }

  void forward(OpContext& context) override {
    run(forward_of(p_), context.input(0).data<T>(), context.output(0).data<T>(),
        context.scratch_as<Complex>());
  }
  void backward(GradContext& context) override {
    run(transpose_of(p_), context.grad_output(0).data<T>(), context.grad_input(0).data<T>(),
        context.scratch_as<Complex>());
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t chunk_length() const { return p_.n + transform_->work_length(); }

  void run(const LineTransform& t, const T* x, T* y, Complex* scratch) const {
    const std::int64_t lines = p_.outer * p_.inner;
    if (lines == 0) return;
    chunks_.for_each(lines, [&](std::int64_t chunk, std::int64_t line) {
      Complex* data = scratch + chunk * chunk_length();
      const std::int64_t o = line / p_.inner, i = line % p_.inner;
      read(t, x + (o * t.from.length * p_.inner + i) * t.from.parts, data);
      transform_->run(data, data + p_.n);
      write(t, data, y + (o * t.to.length * p_.inner + i) * t.to.parts);
    });
  }

  /// Pads with zeros, or truncates.
  void read(const LineTransform& t, const T* x, Complex* data) const {
    const std::int64_t step = p_.inner * t.from.parts;
    const std::int64_t count = std::min(t.from.length, t.mirrors ? half(p_.n) : p_.n);
    const double sign = t.inverse ? -1 : 1;
    for (std::int64_t k = 0; k < count; ++k, x += step) {
      data[k] = {A(x[0]), t.from.parts == 2 ? sign * double(A(x[1])) : 0.0};
    }
    std::fill(data + count, data + p_.n, Complex(0));
    if (!t.mirrors) return;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t twin = (p_.n - k) % p_.n;
      data[twin] = twin == k ? data[k].real() : std::conj(data[k]);
    }
  }

  void write(const LineTransform& t, const Complex* data, T* y) const {
    const std::int64_t step = p_.inner * t.to.parts;
    const std::int64_t count = std::min(t.to.length, t.doubles ? half(p_.n) : p_.n);
    const double sign = t.inverse ? -1 : 1;
    for (std::int64_t k = 0; k < t.to.length; ++k, y += step) {
      const Complex value = k < count ? data[k] : Complex(0);
      const bool twice = t.doubles && k != 0 && 2 * k != p_.n;
      const double factor = twice ? 2 * t.factor : t.factor;
      y[0] = T(A(factor * value.real()));
      if (t.to.parts == 2) y[1] = T(A(factor * sign * value.imag()));
    }
  }

  DftProblem p_;
  std::optional<detail::FourierTransform> transform_;
  detail::Chunks chunks_;
};

/// Shapes: x is ... x length x ... x parts, one part of real numbers, two of complex ones. The axis
/// has length n, or n / 2 + 1 for the half spectrum of a real signal. `onesided` with `inverse`
/// converts a half spectrum to a real signal.
///
/// x is truncated or zero-padded to length n.
class Dft final : public Operator {
 public:
  explicit Dft(const DFTView& view)
      : axis_(view.axis()), inverse_(view.inverse() != 0), onesided_(view.onesided() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(DFTView::In::input);
    const auto axis = axis_of(context), n = length_of(context);
    if (axis.is_untold()) return {unknown_shape(x.dtype)};
    Shape y = x.shape;
    const std::size_t a = normalized(axis.values(), context);
    if (n.is_untold()) {
      y[a] = kUnknownDim;
      y[y.rank() - 1] = inverse_ && onesided_ ? 1 : 2;
    } else {
      const DftProblem p = problem(context);
      y[a] = p.y_length;
      y[y.rank() - 1] = p.y_parts;
    }
    return {TensorDesc{x.dtype, y}};
  }

  Places gradients() const override { return {DFTView::In::input}; }

  /// The usual 5 n log2 n per line of a fast transform.
  Cost cost(const InferContext& context) const override {
    if (axis_of(context).is_untold() || length_of(context).is_untold()) return bytes_only(context);
    const DftProblem p = problem(context);
    return with_flop(
        context, 5.0 * double(p.outer) * double(p.inner) * double(p.n) * std::log2(double(p.n)));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<DftKernel<T>>(problem(context), context);
    });
  }

 private:
  /// An attribute until opset 19.
  IntegersInput axis_of(const InferContext& context) const {
    if (context.node().opset < 20) return list_of(axis_);
    const IntegersInput given = context.integers(DFTView::In::axis);
    return given.given() ? given : list_of(-2);
  }
  static IntegersInput list_of(std::int64_t value) {
    return IntegersInput(std::vector<std::int64_t>{value});
  }
  static IntegersInput length_of(const InferContext& context) {
    return context.integers(DFTView::In::dft_length);
  }
  static std::int64_t one(const std::vector<std::int64_t>& values, std::string_view name,
                          const InferContext& context) {
    if (values.size() == 1) return values[0];
    throw ShapeError(
        fmt::format("{}: {} has {} elements, expected one", context.who(), name, values.size()));
  }
  static std::size_t normalized(const std::vector<std::int64_t>& axis,
                                const InferContext& context) {
    const Shape& x = context.shape(DFTView::In::input);
    const std::int64_t parts = x.rank() < 2 ? 0 : x[x.rank() - 1];
    if (parts != 1 && parts != 2) {
      throw ShapeError(fmt::format(
          "{}: the input is {}, expected two dimensions or more, the last of size 1 (real) or 2 "
          "(complex)",
          context.who(), to_string(x)));
    }
    const std::size_t a = normalize_axis(one(axis, "axis", context), x.rank(), context.who());
    if (a + 1 < x.rank()) return a;
    throw ValueError(
        fmt::format("{}: axis is {}, the last of {}, which holds the parts of a number",
                    context.who(), a, to_string(x)));
  }

  DftProblem problem(const InferContext& context) const {
    const Shape& x = context.shape(DFTView::In::input);
    const std::size_t a = normalized(axis_of(context).values(), context);
    DftProblem p{.outer = x.elements(0, a),
                 .inner = x.elements(a + 1, x.rank() - 1),
                 .x_length = x[a],
                 .x_parts = x[x.rank() - 1],
                 .inverse = inverse_,
                 .onesided = onesided_};
    const IntegersInput length = length_of(context);
    p.n = length.given()          ? one(length.values(), "dft_length", context)
          : inverse_ && onesided_ ? 2 * (p.x_length - 1)
                                  : p.x_length;
    if (p.n < 1) {
      throw ValueError(
          fmt::format("{}: the transform is {} long, expected 1 or more", context.who(), p.n));
    }
    if (onesided_ && p.x_parts != (inverse_ ? 2 : 1)) {
      throw ShapeError(fmt::format(
          "{}: the input is {}; with onesided=1 it must be {}", context.who(), to_string(x),
          inverse_ ? "complex (last dimension 2)" : "real (last dimension 1)"));
    }
    p.y_length = onesided_ && !inverse_ ? half(p.n) : p.n;
    p.y_parts = onesided_ && inverse_ ? 1 : 2;
    return p;
  }

  std::int64_t axis_;
  bool inverse_, onesided_;
};

}  // namespace

void register_dft(OperatorRegistry& registry) { registry.add<Dft, DFTView>(); }

}  // namespace d5::ops
