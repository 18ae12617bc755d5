// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace d5::torch {

/// A sliding window over the spatial dimensions, as ONNX's Conv and pooling describe it.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations;
  std::vector<std::int64_t> begin, end;  ///< padding; torch knows only equal ones
  bool ceil_mode = false;

  /// From the attributes of any version. `kernel` is the weight's where the attribute is left out.
  template <class View>
  static Window of(const View& view, std::vector<std::int64_t> kernel,
                   at::IntArrayRef input_sizes) {
    Window w;
    w.kernel = std::move(kernel);
    const std::size_t rank = w.kernel.size();
    w.strides = view.strides().value_or(std::vector<std::int64_t>(rank, 1));
    w.dilations.assign(rank, 1);
    if constexpr (requires { view.dilations(); }) {
      if (auto given = view.dilations()) w.dilations = *given;
    }
    if constexpr (requires { view.ceil_mode(); }) w.ceil_mode = view.ceil_mode() != 0;
    const auto pads = view.pads().value_or(std::vector<std::int64_t>(2 * rank, 0));
    w.begin.assign(pads.begin(), pads.begin() + std::ptrdiff_t(rank));
    w.end.assign(pads.begin() + std::ptrdiff_t(rank), pads.end());
    w.resolve(view.auto_pad(), input_sizes);
    return w;
  }

  /// Outputs along dimension `i` for an input of `size`. A window that would begin in the padding
  /// behind the input does not count.
  [[nodiscard]] std::int64_t outputs(std::size_t i, std::int64_t size) const {
    const std::int64_t span = size + begin[i] + end[i] - reach(i);
    std::int64_t result =
        (ceil_mode ? (span + strides[i] - 1) / strides[i] : span / strides[i]) + 1;
    if (ceil_mode && (result - 1) * strides[i] >= size + begin[i]) --result;
    return result;
  }
  /// Elements from the first to the last that one window reads.
  [[nodiscard]] std::int64_t reach(std::size_t i) const {
    return (kernel[i] - 1) * dilations[i] + 1;
  }
  [[nodiscard]] bool symmetric() const { return begin == end; }
  [[nodiscard]] bool dilated() const {
    for (auto d : dilations) {
      if (d != 1) return true;
    }
    return false;
  }
  /// What torch's pooling takes by itself: equal padding of at most half a kernel.
  [[nodiscard]] bool torch_pads() const {
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      if (begin[i] != end[i] || begin[i] > kernel[i] / 2) return false;
    }
    return true;
  }

  /// `x` with the padding written out, and as much behind as the last window reads.
  [[nodiscard]] at::Tensor pad(const at::Tensor& x, const at::Scalar& value) const {
    std::vector<std::int64_t> amounts;  // torch: last dimension first
    for (std::size_t k = kernel.size(); k-- > 0;) {
      const std::int64_t size = x.size(std::int64_t(k) + 2);
      const std::int64_t read = (outputs(k, size) - 1) * strides[k] + reach(k);
      amounts.push_back(begin[k]);
      amounts.push_back(std::max(end[k], read - size - begin[k]));
    }
    return at::constant_pad_nd(x, amounts, value);
  }
  /// The same window over an input that `pad` padded.
  [[nodiscard]] Window without_padding() const {
    Window w = *this;
    w.begin.assign(kernel.size(), 0);
    w.end = w.begin;
    w.ceil_mode = false;
    return w;
  }

 private:
  void resolve(const std::string& auto_pad, at::IntArrayRef input_sizes) {
    if (auto_pad == "NOTSET" || auto_pad.empty()) return;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      begin[i] = end[i] = 0;
      if (auto_pad == "VALID") continue;
      // SAME: as many outputs as strides fit, rounded up; the odd element goes to one side.
      const std::int64_t size = input_sizes[i + 2];
      const std::int64_t wanted = (size + strides[i] - 1) / strides[i];
      const std::int64_t total =
          std::max<std::int64_t>((wanted - 1) * strides[i] + reach(i) - size, 0);
      begin[i] = end[i] = total / 2;
      (auto_pad == "SAME_UPPER" ? end[i] : begin[i]) += total % 2;
    }
  }
};

/// The window of the input and kernel sizes that came last: making one takes as long as a small
/// operator.
class WindowMemory {
 public:
  template <class Make>
  const Window& of(at::IntArrayRef sizes, at::IntArrayRef kernel, Make&& make) const {
    if (!window_ || sizes != at::IntArrayRef(sizes_) || kernel != at::IntArrayRef(kernel_)) {
      window_ = make();
      sizes_ = sizes.vec();
      kernel_ = kernel.vec();
    }
    return *window_;
  }

 private:
  mutable std::optional<Window> window_;
  mutable std::vector<std::int64_t> sizes_, kernel_;
};

}  // namespace d5::torch
