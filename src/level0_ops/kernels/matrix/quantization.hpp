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

// A quantized number q stands for (q - zero point) * scale. Scales, zero points and what lies
// between them are held in double, in which every quantized type is exact.
namespace d5::detail {

/// Which scale and zero point each element of a tensor has: one for all, one for each place along
/// an axis, or one for each block of neighbours along it.
class ScaleLayout {
 public:
  /// Of QuantizeLinear: `scale` is one number; a list, one for each place along `axis`; or, with a
  /// `block_size`, as `x` with one number for each block along `axis`.
  /// Throws: ShapeError, ValueError.
  ScaleLayout(const Shape& x, const Shape& scale, std::int64_t axis, std::int64_t block_size,
              std::string_view who);
  /// `scale` is broadcast to `x`.
  ScaleLayout(const Shape& x, const Shape& scale);

  /// `row(element, scale, step, count)` for rows of `count` neighbours, of which number i has
  /// scale number `scale + i step`. On several threads.
  template <class F>
  void run(const F& row) const {
    for (const Part& part : parts_) {
      part.loop.run(
          [&](const StridedLoop::Offsets& at, std::int64_t count) { part.call(at, count, row); });
    }
  }
  /// On this thread, in order.
  template <class F>
  void run_in_order(const F& row) const {
    for (const Part& part : parts_) {
      part.loop.run_in_order(
          [&](const StridedLoop::Offsets& at, std::int64_t count) { part.call(at, count, row); });
    }
  }

 private:
  /// Operand 0 walks the elements, operand 1 the scales.
  struct Part {
    StridedLoop loop;
    std::int64_t element = 0, scale = 0;  // the first ones

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

  std::vector<Part> parts_;  // whole blocks, and the rest
};

/// A scalar, or a list of one.
[[nodiscard]] bool is_one_number(const Shape& shape);
/// Throws: ShapeError unless both have one shape; one number may be a list of one, too.
void expect_shape_of_scale(const Shape& zero_point, const Shape& scale, std::string_view who);

/// Quantized elements without their zero point, as double.
class Centering {
 public:
  Centering(DType type, ScaleLayout layout)
      : layout_(std::move(layout)), read_(type, DType::float64), size_(size_of(type)) {}
  /// `zeros` may be null.
  void run(double* to, const void* x, const double* zeros) const;
  /// Of a row that the layout tells.
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

/// Numbers in units of their scale, as elements of a quantized type: integers are rounded to
/// nearest even, moved by the zero point and cut to their range; floats are moved and rounded.
/// NaN becomes the least integer.
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

/// y = quantized(x / scale), the quotient rounded to a type of its own.
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

/// What rows are cut into for a buffer on the stack.
inline constexpr std::int64_t kQuantizationPiece = 512;

}  // namespace d5::detail
