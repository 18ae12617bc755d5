// SPDX-License-Identifier: Apache-2.0
// STFT: short-time Fourier transform, of a window that slides over a signal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/chunks.hpp"
#include "level0_ops/kernels/fourier_transform.hpp"

namespace d5::ops {
namespace {

using STFTView = onnx::nodes::STFT;
using Complex = detail::FourierTransform::Complex;

struct StftProblem {
  std::int64_t batch = 0, length = 0, parts = 1;  ///< sizes of the signal; one part: real
  std::int64_t frames = 0, step = 1, n = 1;       ///< n: length of a frame
  std::int64_t bins = 1;                          ///< number of kept bins of a frame's spectrum
};

template <class T>
class StftKernel final : public Kernel {
  using A = Arithmetic<T>;

 public:
  StftKernel(const StftProblem& problem, PlanContext& context)
      : p_(problem), has_window_(context.has_input(STFTView::In::window)) {
    if (tasks() == 0) return;
    transform_.emplace(p_.n);
    chunks_ = detail::Chunks(tasks(), double(tasks()) * double(p_.n) * std::log2(double(p_.n)));
    context.request_scratch(sizeof(Complex) * std::size_t(chunks_.count() * chunk_length()));
  }

  void forward(OpContext& context) override {
    if (tasks() == 0) return;
    const T* x = context.input(STFTView::In::signal).data<T>();
    const T* window = window_of(context);
    T* y = context.output(0).data<T>();
    Complex* scratch = context.scratch_as<Complex>();
    chunks_.for_each(tasks(), [&](std::int64_t chunk, std::int64_t task) {
      Complex* data = scratch + chunk * chunk_length();
      const T* from = x + first(task);
      for (std::int64_t t = 0; t < p_.n; ++t, from += p_.parts) {
        const double w = window ? double(A(window[t])) : 1.0;
        data[t] = {w * double(A(from[0])), p_.parts == 2 ? w * double(A(from[1])) : 0.0};
      }
      transform_->run(data, data + p_.n);
      T* to = y + task * p_.bins * 2;
      for (std::int64_t k = 0; k < p_.bins; ++k, to += 2) {
        to[0] = T(A(data[k].real()));
        to[1] = T(A(data[k].imag()));
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      add_gradients(sum_of(context, STFTView::In::signal), sum_of(context, STFTView::In::window),
                    context);
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {STFTView::In::signal, STFTView::In::window},
            .backward_reads_outputs = {}};
  }

 private:
  std::int64_t tasks() const { return p_.batch * p_.frames; }
  std::int64_t chunk_length() const { return p_.n + transform_->work_length(); }
  /// The first element of a frame.
  std::int64_t first(std::int64_t task) const {
    const std::int64_t sample = task / p_.frames, frame = task % p_.frames;
    return (sample * p_.length + frame * p_.step) * p_.parts;
  }
  template <class Context>
  const T* window_of(const Context& context) const {
    return has_window_ ? context.input(STFTView::In::window).template data<T>() : nullptr;
  }
  /// Zero-filled gradient of input `i`, if wanted.
  static T* sum_of(GradContext& context, std::size_t i) {
    if (!context.wants_grad(i)) return nullptr;
    T* sum = context.grad_input(i).data<T>();
    std::fill_n(sum, context.grad_input(i).elements(), T());
    return sum;
  }
  /// The transposed transform yields the gradient of each windowed frame; overlapping frames are
  /// summed.
  void add_gradients(T* dx, T* dw, const GradContext& context) const {
    if (tasks() == 0) return;
    const T* x = dw ? context.input(STFTView::In::signal).data<T>() : nullptr;
    const T* window = dx ? window_of(context) : nullptr;
    const T* dy = context.grad_output(0).data<T>();
    Complex* data = context.scratch_as<Complex>();
    for (std::int64_t task = 0; task < tasks(); ++task) {
      const T* from = dy + task * p_.bins * 2;
      for (std::int64_t k = 0; k < p_.bins; ++k) data[k] = {from[2 * k], -from[2 * k + 1]};
      std::fill(data + p_.bins, data + p_.n, Complex(0));
      transform_->run(data, data + p_.n);
      for (std::int64_t t = 0; t < p_.n; ++t) {
        const std::int64_t at = first(task) + t * p_.parts;
        const T slope[] = {T(data[t].real()), T(-data[t].imag())};
        for (std::int64_t part = 0; part < p_.parts; ++part) {
          if (dx) dx[at + part] += window ? window[t] * slope[part] : slope[part];
          if (dw) dw[t] += x[at + part] * slope[part];
        }
      }
    }
  }

  StftProblem p_;
  bool has_window_;
  std::optional<detail::FourierTransform> transform_;
  detail::Chunks chunks_;
};

/// Shapes: signal is batch x length x parts, with one part for real numbers (may be omitted), two
/// for complex ones; window is n; y is batch x frames x n x 2, or n / 2 + 1 instead of n for half
/// spectra.
class Stft final : public Operator {
 public:
  explicit Stft(const STFTView& view) : onesided_(view.onesided() != 0) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const TensorDesc& x = context.input(STFTView::In::signal);
    if (is_untold(context)) return {TensorDesc{x.dtype, {x.shape[0], kUnknownDim, kUnknownDim, 2}}};
    const StftProblem p = problem(context);
    return {TensorDesc{x.dtype, {p.batch, p.frames, p.bins, 2}}};
  }

  Places gradients() const override { return {STFTView::In::signal, STFTView::In::window}; }

  /// The usual 5 n log2 n per frame, and the window's products.
  Cost cost(const InferContext& context) const override {
    if (is_untold(context)) return bytes_only(context);
    const StftProblem p = problem(context);
    const double products = context.has_input(STFTView::In::window) ? double(p.parts) : 0;
    return with_flop(context, double(p.batch) * double(p.frames) * double(p.n) *
                                  (5 * std::log2(double(p.n)) + products));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<StftKernel<T>>(problem(context), context);
    });
  }

 private:
  static bool is_untold(const InferContext& context) {
    check_signal(context);
    return context.integers(STFTView::In::frame_step).is_untold() ||
           context.integers(STFTView::In::frame_length).is_untold();
  }
  static void check_signal(const InferContext& context) {
    const Shape& x = context.shape(STFTView::In::signal);
    if (x.rank() == 2 || (x.rank() == 3 && (x[2] == 1 || x[2] == 2))) return;
    throw ShapeError(
        fmt::format("{}: the signal is {}, expected batch x length [x 1] (real) or batch x length "
                    "x 2 (complex)",
                    context.who(), to_string(x)));
  }
  static std::int64_t positive(const InferContext& context, std::size_t i, std::string_view name) {
    const auto values = context.integers(i).values();
    if (values.size() == 1 && values[0] >= 1) return values[0];
    throw ValueError(fmt::format("{}: {} is {}, expected one number from 1 on", context.who(), name,
                                 values.size() == 1 ? fmt::format("{}", values[0])
                                                    : fmt::format("{} numbers", values.size())));
  }

  StftProblem problem(const InferContext& context) const {
    const Shape& x = context.shape(STFTView::In::signal);
    // PyTorch's exporter omits the last dimension of 1 for real numbers, which ONNX requires.
    StftProblem p{.batch = x[0], .length = x[1], .parts = x.rank() == 2 ? 1 : x[2]};
    p.step = positive(context, STFTView::In::frame_step, "frame_step");
    p.n = p.length;
    const bool has_window = context.has_input(STFTView::In::window);
    if (has_window) {
      const Shape& window = context.shape(STFTView::In::window);
      if (window.rank() != 1) {
        throw ShapeError(
            fmt::format("{}: the window is {}, expected a list", context.who(), to_string(window)));
      }
      p.n = window[0];
    }
    if (context.has_input(STFTView::In::frame_length)) {
      const std::int64_t given = positive(context, STFTView::In::frame_length, "frame_length");
      if (has_window && given != p.n) {
        throw ShapeError(fmt::format("{}: frame_length is {} but the window has {} elements",
                                     context.who(), given, p.n));
      }
      p.n = given;
    }
    if (p.n < 1 || p.n > p.length) {
      throw ShapeError(fmt::format("{}: a frame of {} does not fit into a signal of {}",
                                   context.who(), p.n, p.length));
    }
    if (onesided_ && p.parts == 2) {
      throw ValueError(
          fmt::format("{}: the signal is complex, so its spectrum has no halves; give onesided=0",
                      context.who()));
    }
    p.frames = (p.length - p.n) / p.step + 1;
    p.bins = onesided_ ? p.n / 2 + 1 : p.n;
    return p;
  }

  bool onesided_;
};

}  // namespace

void register_stft(OperatorRegistry& registry) { registry.add<Stft, STFTView>(); }

}  // namespace d5::ops
