// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of lines and of sliding windows, and the window functions.
#include <ATen/ops/blackman_window.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_ifft.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/hamming_window.h>
#include <ATen/ops/hann_window.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stft.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// The last dimension has one part for real numbers, two for complex ones.
at::Tensor numbers(const at::Tensor& x) {
  const at::Tensor wide = widened(x);
  return wide.size(-1) == 2 ? at::view_as_complex(wide.contiguous()) : wide.squeeze(-1);
}

/// Shapes: x ...,length,...,parts; y ...,n or n / 2 + 1,...,parts.
class Dft final : public TorchKernel {
  using View = nodes::DFT;

 public:
  explicit Dft(const PlanContext& context)
      : TorchKernel(context),
        inverse_(View(node()).inverse() != 0),
        onesided_(View(node()).onesided() != 0),
        axis_(View(node()).axis()) {
    if (node().opset >= 20) {
      const auto axis = context.integers(View::In::axis);
      axis_ = axis.given() ? axis.values()[0] : -2;
    }
    axis_ = front(axis_, context);
    const std::int64_t length = context.shape(0)[std::size_t(axis_)];
    const auto given = context.integers(View::In::dft_length);
    n_ = given.given() ? given.values()[0] : inverse_ && onesided_ ? 2 * (length - 1) : length;
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = numbers(inputs[0]);
    at::Tensor y;
    if (inverse_ && onesided_) {
      y = at::fft_irfft(x, n_, axis_).unsqueeze(-1);
    } else if (inverse_) {
      y = at::view_as_real(at::fft_ifft(x, n_, axis_).resolve_conj());
    } else {
      y = at::view_as_real(onesided_ ? at::fft_rfft(x, n_, axis_) : at::fft_fft(x, n_, axis_));
    }
    results[0] = y.to(inputs[0].scalar_type());
  }

 private:
  bool inverse_, onesided_;
  std::int64_t axis_, n_;
};

/// Shapes: signal batch,length,parts; window n; y batch,frames,n or n / 2 + 1,2.
class Stft final : public TorchKernel {
  using View = nodes::STFT;

 public:
  explicit Stft(const PlanContext& context)
      : TorchKernel(context),
        onesided_(View(node()).onesided() != 0),
        step_(context.integers(View::In::frame_step).values()[0]) {
    const auto length = context.integers(View::In::frame_length);
    n_ = context.has_input(View::In::window) ? context.shape(View::In::window)[0]
         : length.given()                    ? length.values()[0]
                                             : context.shape(View::In::signal)[1];
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = numbers(inputs[View::In::signal]);
    const at::Tensor window =
        widened(given(inputs, View::In::window)
                    .value_or(at::ones({n_}, inputs[View::In::signal].options())));
    const at::Tensor y =
        at::stft(x, n_, step_, /*win_length=*/n_, window, /*center=*/false, "constant",
                 /*normalized=*/false, onesided_, /*return_complex=*/true);
    results[0] = at::view_as_real(y.transpose(1, 2)).to(inputs[View::In::signal].scalar_type());
  }

 private:
  bool onesided_;
  std::int64_t step_, n_;
};

/// Shapes: the input gives the length of y.
class Window final : public TorchKernel {
 public:
  Window(const PlanContext& context, at::Tensor (*window)(std::int64_t size, bool periodic))
      : TorchKernel(context),
        window_(window(context.output(0).shape[0], nodes::HannWindow(node()).periodic() != 0)
                    .to(scalar_type(context.output(0).dtype))) {}

  void call(Inputs, Results results, const Random&) const override { results[0] = window_.clone(); }

 private:
  at::Tensor window_;
};

at::Tensor hann(std::int64_t size, bool periodic) {
  return at::hann_window(size, periodic, at::kDouble);
}
at::Tensor hamming(std::int64_t size, bool periodic) {
  return at::hamming_window(size, periodic, /*alpha=*/25.0 / 46, /*beta=*/21.0 / 46, at::kDouble);
}
at::Tensor blackman(std::int64_t size, bool periodic) {
  return at::blackman_window(size, periodic, at::kDouble);
}

/// Torch's window of one point is 1, independent of its formula.
Support opens(const PlanContext& context) {
  const TensorDesc& y = context.output(0);
  if (y.elements() == 1) return {context.node().op_type + " of one point"};
  if (!is_floating_point(y.dtype)) {  // 1 may be a little less in another order of sums
    return {context.node().op_type + " of " + std::string(name_of(y.dtype))};
  }
  return computes(context);
}

}  // namespace

void register_fourier(OperatorRegistry& registry) {
  add<Dft, nodes::DFT>(registry, computes_some);
  add<Stft, nodes::STFT>(registry, computes_some);
  add<Window, nodes::HannWindow>(registry, opens, &hann);
  add<Window, nodes::HammingWindow>(registry, opens, &hamming);
  add<Window, nodes::BlackmanWindow>(registry, opens, &blackman);
}

}  // namespace d5::torch
