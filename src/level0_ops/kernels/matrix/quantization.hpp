// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/tensor/shape.hpp"
#include "level0_ops/kernels/strided_loop.hpp"
#include "level0_ops/operator/conversion.hpp"

// A quantized number q represents (q - zero point) * scale. Scales, zero points and intermediate
// values are double, in which every quantized type is exact.
namespace d5::detail {

/// Granularity of scales and zero points: per tensor, per axis, or per block along an axis.
class ScaleLayout {
 public:
  /// The layout of QuantizeLinear: `scale` is one number; a list with one number per index along
  /// `axis`; or, with a `block_size`, like `x` with one number per block along `axis`.
  /// Throws: ShapeError, ValueError.
  ScaleLayout(const Shape& x, const Shape& scale, std::int64_t axis, std::int64_t block_size,
              std::string_view who);
  /// `scale` is broadcast to `x`.
  ScaleLayout(const Shape& x, const Shape& scale);

  /// Calls `row(element, scale, step, count)` on several threads, for rows of `count` consecutive
  /// elements, of which the i-th has scale number `scale + i step`.
  template <class F>
  void run(const F& row) const {
    for (const Part& part : parts_) {
      part.loop.run(
          [&](const StridedLoop::Offsets& at, std::int64_t count) { part.call(at, count, row); });
    }
  }
  /// The same on this thread, in order.
  template <class F>
  void run_in_order(const F& row) const {
    for (const Part& part : parts_) {
      part.loop.run_in_order(
          [&](const StridedLoop::Offsets& at, std::int64_t count) { part.call(at, count, row); });
    }
  }

 private:
  /// Operand 0 is the elements, operand 1 the scales.
  struct Part {
    StridedLoop loop;
    std::int64_t element = 0, scale = 0;  // first indices

    template <class F>
    void call(const StridedLoop::Offsets& at, std::int64_t count, const F& row) const {
      const std::int64_t e = element + at[0], s = scale + at[1];
      if (loop.step(0) == 1) return row(e, s, loop.step(1), count);
      for (std::int64_t i = 0; i < count; ++i) {
        row(e + i * loop.step(0), s + i * loop.step(1), 0, 1);
      }
    }
  };
  void add_blocks(const Shape& x, std::size_t axis, std::int64_t block_size);

  std::vector<Part> parts_;  // complete blocks, and the remainder
};

/// Whether the shape is a scalar or a list of one.
[[nodiscard]] bool is_one_number(const Shape& shape);
/// Throws: ShapeError unless both have the same shape, where a scalar equals a list of one.
void expect_shape_of_scale(const Shape& zero_point, const Shape& scale, std::string_view who);

/// Converts quantized elements, minus their zero point, to double.
class Centering {
 public:
  Centering(DType type, ScaleLayout layout)
      : layout_(std::move(layout)), read_(type, DType::float64), size_(size_of(type)) {}
  /// `zeros` may be null.
  void run(double* to, const void* x, const double* zeros) const;
  /// Converts a row of the layout.
  void row(double* to, const void* x, const double* zeros, std::int64_t element, std::int64_t zero,
           std::int64_t step, std::int64_t count) const;

 private:
  ScaleLayout layout_;
  Conversion read_;
  std::size_t size_;
};

struct IntegerRange {
  double least, largest;
};

/// Converts numbers in units of their scale to a quantized type: integers are rounded to nearest
/// even, shifted by the zero point and saturated; floats are shifted and rounded. NaN becomes the
/// smallest integer.
class Quantizer {
 public:
  explicit Quantizer(DType type, Overflow overflow = Overflow::saturate);
  /// Writes elements [element, element + count) of y; `values` is overwritten. `zeros` may be null.
  void row(void* y, std::int64_t element, double* values, const double* zeros, std::int64_t step,
           std::int64_t count) const;

 private:
  Conversion write_;
  std::size_t size_;
  std::optional<IntegerRange> range_;
};

/// y = quantized(x / scale), with the quotient rounded to `precision`.
class LinearQuantization {
 public:
  /// `precision`: float32, float16, bfloat16, or float64 for quotients of integers.
  LinearQuantization(DType x, DType precision, const Quantizer& quantizer, ScaleLayout layout);
  /// `zeros` may be null.
  void run(void* y, const void* x, const double* scales, const double* zeros) const {
    run_(*this, y, x, scales, zeros);
  }

 private:
  template <class P>
  static void run_in(const LinearQuantization& self, void* y, const void* x, const double* scales,
                     const double* zeros);

  ScaleLayout layout_;
  Conversion read_;
  std::size_t size_;
  Quantizer quantizer_;
  void (*run_)(const LinearQuantization&, void*, const void*, const double*,
               const double*) = nullptr;
};

/// Size of the pieces of rows in a buffer on the stack.
inline constexpr std::int64_t kQuantizationPiece = 512;

}  // namespace d5::detail
