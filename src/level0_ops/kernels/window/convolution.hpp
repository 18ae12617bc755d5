// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level0_ops/operator/window.hpp"
#include "level0_ops/kernels/chunks.hpp"

// Common code of Conv and ConvTranspose.
namespace d5::detail {

/// Channels and filters are per group: X has group x channels, Y group x filters.
struct ConvolutionSizes {
  std::int64_t batch = 0, group = 1, channels = 0, filters = 0;
  Window window;
};

/// W's spatial sizes. Throws: ShapeError if `kernel_shape` is given and differs.
[[nodiscard]] std::vector<std::int64_t> kernel_of(const Shape& w,
                                                  const WindowAttributes& attributes,
                                                  std::string_view who);
/// Throws: ShapeError unless X and W have the same rank, with one to three spatial dimensions.
void expect_convolution_ranks(const Shape& x, const Shape& w, std::string_view who);
/// Throws: ValueError if `group` is below 1.
void expect_group(std::int64_t group, const onnx::Node& node);
/// Sizes of the convolution of x by w. Throws: ShapeError if they do not match.
[[nodiscard]] ConvolutionSizes convolution_sizes(const Shape& x, const Shape& w,
                                                 const WindowAttributes& attributes,
                                                 std::int64_t group, std::string_view who);
/// The work of a convolution, without bias.
[[nodiscard]] double convolution_flop(const ConvolutionSizes& sizes);

/// Common base of both operators.
class Convolution : public Operator {
 public:
  Places gradients() const final { return {0, 1, 2}; }
  /// By the definition: a product and a sum per weight and position, and the bias.
  Cost cost(const InferContext& context) const final;
  std::optional<Cost> gradient_cost(const InferContext& context, Places wanted) const final {
    return bilinear_gradient_cost(context, wanted);
  }

 protected:
  template <class View>
  explicit Convolution(const View& view)
      : attributes_(WindowAttributes::of(view)), group_(view.group()) {
    expect_group(group_, view.node());
  }

  /// Throws: ShapeError, TypeError if the inputs do not match.
  [[nodiscard]] virtual ConvolutionSizes sizes(const InferContext& context) const = 0;

  /// Throws: ShapeError unless X and W have the same rank, and B `filters` elements.
  static void check_inputs(const InferContext& context, std::int64_t filters);

  WindowAttributes attributes_;
  std::int64_t group_;
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
        T part = 0;  // partial sums reduce rounding errors
        for (std::int64_t i = 0; i < area; ++i) part += from[i];
        sum += part;
      }
      db[m] = sum;
    }
  });
}

}  // namespace d5::detail
