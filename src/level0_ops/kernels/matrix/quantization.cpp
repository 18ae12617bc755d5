// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/quantization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

template <class P>
double rounded(double value) {
  if constexpr (std::floating_point<P>) {
    return double(P(value));
  } else {
    return double(float(P(value, Overflow::to_infinity)));
  }
}

/// Nothing for floats.
std::optional<IntegerRange> integers_of(DType type) {
  switch (type) {
    case DType::uint2:
      return IntegerRange{0, 3};
    case DType::int2:
      return IntegerRange{-2, 1};
    case DType::uint4:
      return IntegerRange{0, 15};
    case DType::int4:
      return IntegerRange{-8, 7};
    case DType::uint8:
      return IntegerRange{0, 255};
    case DType::int8:
      return IntegerRange{-128, 127};
    case DType::uint16:
      return IntegerRange{0, 65535};
    case DType::int16:
      return IntegerRange{-32768, 32767};
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_one_number(const Shape& shape) { return shape.rank() <= 1 && shape.elements() == 1; }

ScaleLayout::ScaleLayout(const Shape& x, const Shape& scale)
    : parts_{{.loop = broadcast_loop(x, {&scale})}} {}

ScaleLayout::ScaleLayout(const Shape& x, const Shape& scale, std::int64_t axis,
                         std::int64_t block_size, std::string_view who) {
  if (block_size < 0) {
    throw ValueError(fmt::format("{}: block_size is {}, expected 0 or more", who, block_size));
  }
  if (is_one_number(scale)) {
    parts_.push_back({.loop = broadcast_loop(x, {&scale})});
    return;
  }
  if (block_size == 0 && scale.rank() != 1) {
    throw ShapeError(
        fmt::format("{}: the scale is {}, expected one number or a list; blocks need "
                    "the attribute block_size",
                    who, to_string(scale)));
  }
  const std::size_t a = normalize_axis(axis, x.rank(), who);
  Shape expected = block_size == 0 ? Shape{x[a]} : x;
  if (block_size > 0) expected[a] = x[a] / block_size + (x[a] % block_size != 0);
  if (scale != expected) {
    throw ShapeError(fmt::format("{}: the scale is {}, expected {} for x of {} along axis {}", who,
                                 to_string(scale), to_string(expected), to_string(x), a));
  }
  if (block_size > 0) {
    add_blocks(x, a, block_size);
  } else {
    Shape along(std::vector<std::int64_t>(x.rank(), 1));
    along[a] = x[a];
    parts_.push_back({.loop = broadcast_loop(x, {&along})});
  }
}

void ScaleLayout::add_blocks(const Shape& x, std::size_t axis, std::int64_t block_size) {
  if (x.elements() == 0) return;
  const std::int64_t outer = x.elements(0, axis), inner = x.elements(axis + 1, x.rank());
  const std::int64_t whole = x[axis] / block_size, rest = x[axis] % block_size;
  const std::int64_t blocks = whole + (rest > 0);
  const auto part = [&](std::int64_t first, std::int64_t count, std::int64_t size) {
    StridedLoop loop(2);
    loop.add(outer, {x[axis] * inner, blocks * inner});
    loop.add(count, {size * inner, inner});
    loop.add(size, {inner, 0});
    loop.add(inner, {1, 1});
    parts_.push_back({loop, first * block_size * inner, first * inner});
  };
  if (whole > 0) part(0, whole, block_size);
  if (rest > 0) part(whole, 1, rest);
}

void expect_shape_of_scale(const Shape& zero_point, const Shape& scale, std::string_view who) {
  if (zero_point == scale || (is_one_number(zero_point) && is_one_number(scale))) return;
  throw ShapeError(fmt::format("{}: the zero point is {} but the scale is {}; they must agree", who,
                               to_string(zero_point), to_string(scale)));
}

void Centering::row(double* to, const void* x, const double* zeros, std::int64_t element,
                    std::int64_t zero, std::int64_t step, std::int64_t count) const {
  read_.run(to, static_cast<const std::byte*>(x) + element * std::int64_t(size_), count);
  if (!zeros) return;
  for (std::int64_t i = 0; i < count; ++i) to[i] -= zeros[zero + i * step];
}

void Centering::run(double* to, const void* x, const double* zeros) const {
  layout_.run([&](std::int64_t element, std::int64_t zero, std::int64_t step, std::int64_t count) {
    row(to + element, x, zeros, element, zero, step, count);
  });
}

Quantizer::Quantizer(DType type, Overflow overflow)
    : write_(DType::float64, type, {.overflow = overflow}),
      size_(size_of(type)),
      range_(integers_of(type)) {}

void Quantizer::row(void* y, std::int64_t element, double* values, const double* zeros,
                    std::int64_t step, std::int64_t count) const {
  if (range_) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = std::nearbyint(values[i]);
  }
  if (zeros) {
    for (std::int64_t i = 0; i < count; ++i) values[i] += zeros[i * step];
  }
  if (range_) {
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = values[i] > range_->least ? std::min(values[i], range_->largest) : range_->least;
    }
  }
  write_.run(static_cast<std::byte*>(y) + element * std::int64_t(size_), values, count);
}

LinearQuantization::LinearQuantization(DType x, DType precision, const Quantizer& quantizer,
                                       ScaleLayout layout)
    : layout_(std::move(layout)),
      read_(x, DType::float64),
      size_(size_of(x)),
      quantizer_(quantizer) {
  dispatch(FloatTypes{}, precision, "QuantizeLinear", [&]<class P>() { run_ = run_in<P>; });
}

template <class P>
void LinearQuantization::run_in(const LinearQuantization& self, void* y, const void* x,
                                const double* scales, const double* zeros) {
  const auto* from = static_cast<const std::byte*>(x);
  self.layout_.run([&](std::int64_t element, std::int64_t scale, std::int64_t step,
                       std::int64_t count) {
    std::array<double, kQuantizationPiece> piece;
    for (std::int64_t at = 0; at < count; at += kQuantizationPiece) {
      const std::int64_t length = std::min(kQuantizationPiece, count - at), s = scale + at * step;
      self.read_.run(piece.data(), from + (element + at) * std::int64_t(self.size_), length);
      for (std::int64_t i = 0; i < length; ++i) {
        // In double, the quotient of two floats is precise enough for a second rounding.
        double& value = piece[std::size_t(i)];
        value = rounded<P>(rounded<P>(value) / rounded<P>(scales[s + i * step]));
      }
      self.quantizer_.row(y, element + at, piece.data(), zeros ? zeros + s : nullptr, step, length);
    }
  });
}

}  // namespace d5::detail
