// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::tensorflow {

/// Memory order of a tensor's dimensions, the slowest first: {{0, 2, 3, 1}, "nhwc"}.
struct DimensionOrder {
  std::vector<std::int64_t> dimensions;
  std::string name;
};

/// N,C,spatial as N,spatial,C: "nwc", "nhwc", "ndhwc", and "n...c" for more dimensions.
[[nodiscard]] DimensionOrder channels_last_order(std::size_t rank);
/// Dimension order of a filter, from two channel dimensions followed by the kernel's, to kernel,
/// second, first: "hwio". `channels` names the second and the first.
[[nodiscard]] DimensionOrder filter_order(std::size_t rank, const char* channels);

/// A tensor stored like its transpose.
class Permuted final : public Arrangement {
 public:
  /// `rows`: the tensor itself.
  Permuted(const TensorDesc& rows, DimensionOrder order);
  [[nodiscard]] const DimensionOrder& order() const { return order_; }
  /// The transposed tensor, row-major.
  [[nodiscard]] const TensorDesc& transposed() const { return transposed_; }
  [[nodiscard]] std::string name() const override { return order_.name; }
  [[nodiscard]] std::size_t bytes() const override { return transposed_.bytes(); }
  [[nodiscard]] bool equals(const Arrangement& other) const override;

 private:
  DimensionOrder order_;
  TensorDesc transposed_;
};

/// Null if the elements are row-major, or in another framework's layout.
[[nodiscard]] const Permuted* permuted(const TensorDesc& desc);
/// Descriptor of the stored tensor: `desc`, or its transpose.
[[nodiscard]] const TensorDesc& in_memory(const TensorDesc& desc);

}  // namespace d5::tensorflow
