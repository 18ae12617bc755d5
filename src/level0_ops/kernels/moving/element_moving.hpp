// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "d5/core/tensor/tensor.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/strided_loop.hpp"

// Building blocks of operators that only move elements. They support every element type by its
// size; strings are handled separately.
namespace d5::detail {

/// The address of element `i`.
[[nodiscard]] inline void* element(Tensor& tensor, std::int64_t i) {
  return static_cast<std::byte*>(tensor.raw()) + i * std::int64_t(size_of(tensor.dtype()));
}
[[nodiscard]] inline const void* element(const Tensor& tensor, std::int64_t i) {
  return static_cast<const std::byte*>(tensor.raw()) + i * std::int64_t(size_of(tensor.dtype()));
}

/// Calls `f.operator()<T>()` with a type that moves like `dtype`: an integer of its size, or
/// std::string.
template <class F>
decltype(auto) dispatch_by_size(DType dtype, F&& f) {
  if (dtype == DType::string) return f.template operator()<std::string>();
  switch (size_of(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    case 16:
      return f.template operator()<std::complex<double>>();
    default:
      throw_type_not_supported("moving elements", dtype);
  }
}

/// `kernel_for` for a kernel that moves elements forward and adds them backward: made for a type
/// that moves like `dtype` or, if backward is wanted, for float or double.
template <class Make>
[[nodiscard]] std::unique_ptr<Kernel> moving_kernel_for(DType dtype, const PlanContext& context,
                                                        Make&& make) {
  if (context.wants_backward()) {
    return kernel_for(RealTypes{}, RealTypes{}, dtype, context, std::forward<Make>(make));
  }
  return dispatch_by_size(
      dtype, [&]<class T>() -> std::unique_ptr<Kernel> { return make.template operator()<T>(); });
}

/// Copies `count` consecutive elements. The ranges are identical or do not overlap.
void copy_elements(DType dtype, void* to, const void* from, std::int64_t count);
/// Sets every element of `to` to zero, the empty string, or false.
void zero_elements(Tensor& to);

/// Copies along a loop; dispatches on the element type at construction.
///
///     StridedCopy copy(x.dtype(), loop);   // while planning
///     copy.run(y.raw(), x.raw());          // while running
class StridedCopy {
 public:
  StridedCopy(DType dtype, const StridedLoop& loop);
  /// Operand 0 of the loop is `to`, operand 1 `from`. They must not overlap.
  void run(void* to, const void* from) const { forward_(loop_, to, from); }
  /// The reverse: operand 0 is `from`, operand 1 `to`. No two visits may write the same element.
  void run_back(const void* from, void* to) const { backward_(loop_, to, from); }

 private:
  using Copy = void (*)(const StridedLoop&, void* to, const void* from);
  StridedLoop loop_;
  Copy forward_ = nullptr, backward_ = nullptr;
};

/// Copies between slices [start, start + length) of a dimension of a tensor, the whole, and a
/// tensor with only these slices, the part.
class TensorPart {
 public:
  TensorPart(const TensorDesc& whole, std::size_t axis, std::int64_t start, std::int64_t length);
  void cut(const Tensor& whole, Tensor& part) const {
    copy_.run(part.raw(), element(whole, first_));
  }
  void paste(const Tensor& part, Tensor& whole) const {
    copy_.run_back(part.raw(), element(whole, first_));
  }

 private:
  StridedCopy copy_;  // operand 0 is the part, operand 1 the whole
  std::int64_t first_;
};

}  // namespace d5::detail
