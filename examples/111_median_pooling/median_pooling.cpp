// SPDX-License-Identifier: Apache-2.0
// Median pooling, forward and backward, as a class template: the Deep500 paper's listing 3.
//
//   d5 op check --load median_pooling.cpp "example.MedianPooling 2x3x6x7 size=3"
#include "d5/abi.hpp"

#ifndef DTYPE
#define DTYPE float
#endif

using d5::abi::Call, d5::abi::Dims, d5::abi::Inputs;

/// The median of each window of size x size elements, without overlap (rows and columns behind the
/// last whole window are ignored); the lower one of an even number. Shapes: NxCxHxW.
template <class T>
struct MedianPooling {
  static constexpr const char* kName = "MedianPooling";
  static constexpr const char* kDomain = "example";
  std::int64_t size;

  explicit MedianPooling(const d5::abi::Node& node) : size(node.integer("size", 2)) {}

  std::vector<d5::abi::Desc> infer(const Inputs& inputs) const {
    const Dims x = inputs.dims<T>(0);
    if (x.size() != 4 || size < 1) throw d5::abi::Refusal(D5_SHAPE_ERROR, "expected NxCxHxW");
    return {d5::abi::desc_of<T>({x[0], x[1], x[2] / size, x[3] / size})};
  }
  void forward(const Call& call) {
    const auto x = call.input<T>(0);
    const auto y = call.output<T>(0);
    for_each_median(x, [&](std::int64_t out, std::int64_t in) { y[out] = x[in]; });
  }
  /// The gradient goes to the element that was the median.
  void backward(const Call& call) {
    const auto dy = call.grad_output<T>(0);
    const auto dx = call.grad_input<T>(0);
    if (!dx) return;
    std::fill_n(dx.data(), dx.elements(), T(0));
    if (!dy) return;
    for_each_median(call.input<T>(0), [&](auto out, auto in) { dx[in] += dy[out]; });
  }

 private:
  /// Calls `use(index in the output, index of the median in x)`.
  template <class Use>
  void for_each_median(const d5::abi::Array<T>& x, const Use& use) const {
    const std::int64_t height = x.dim(2), width = x.dim(3), rows = height / size,
                       columns = width / size;
    std::vector<std::int64_t> window(std::size_t(size * size));
    const auto by_value = [&](std::int64_t a, std::int64_t b) { return x[a] < x[b]; };
    for (std::int64_t out = 0; out < x.dim(0) * x.dim(1) * rows * columns; ++out) {
      const std::int64_t plane = out / (rows * columns), row = out / columns % rows,
                         column = out % columns;
      const std::int64_t corner = (plane * height + row * size) * width + column * size;
      for (std::int64_t i = 0; i < size * size; ++i) {
        window[std::size_t(i)] = corner + i / size * width + i % size;
      }
      const auto middle = window.begin() + std::ptrdiff_t(window.size() - 1) / 2;
      std::nth_element(window.begin(), middle, window.end(), by_value);
      use(out, *middle);
    }
  }
};

D5_OPERATOR(MedianPooling<DTYPE>)
