// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator.hpp"
#include "d5/level0_ops/window.hpp"
#include "level0_ops/kernels/chunks.hpp"

// What Conv and ConvTranspose share.
namespace d5::detail {

/// Channels and filters are those of one group: X has group x channels, Y group x filters.
struct ConvolutionSizes {
  std::int64_t batch = 0, group = 1, channels = 0, filters = 0;
  Window window;
};

/// The part of their meaning in which they agree.
class Convolution : public Operator {
 public:
  Places gradients() const final { return {0, 1, 2}; }
  /// Of the definition: a product and its sum for each weight and position, and the bias.
  Cost cost(const InferContext& context) const final;

 protected:
  template <class View>
  explicit Convolution(const View& view)
      : attributes_(WindowAttributes::of(view)), group_(view.group()) {
    check_group(view.node());
  }

  /// Throws: ShapeError, TypeError if the inputs do not fit each other.
  [[nodiscard]] virtual ConvolutionSizes sizes(const InferContext& context) const = 0;

  /// Throws: TypeError, ShapeError unless X, W and B have one type, X and W the same rank, and B
  /// `filters` elements.
  static void check_inputs(const InferContext& context, std::int64_t filters);
  /// W's spatial sizes. Throws: ShapeError if `kernel_shape` is given and another.
  [[nodiscard]] std::vector<std::int64_t> kernel(const InferContext& context) const;

  WindowAttributes attributes_;
  std::int64_t group_;

 private:
  void check_group(const onnx::Node& node) const;
};

/// db[m] = the sum of dy[n, m], which has `area` elements, over all n.
template <class T>
void bias_gradient(std::int64_t batch, std::int64_t filters, std::int64_t area, const T* dy,
                   T* db) {
  parallel_for(filters, 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t m = begin; m < end; ++m) {
      T sum = 0;
      for (std::int64_t n = 0; n < batch; ++n) {
        const T* from = dy + (n * filters + m) * area;
        T part = 0;  // sums of short sums lose less
        for (std::int64_t i = 0; i < area; ++i) part += from[i];
        sum += part;
      }
      db[m] = sum;
    }
  });
}

}  // namespace d5::detail
