// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/error_norms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "level0_ops/validation/worse.hpp"

namespace d5 {
namespace {

template <class T>
auto bits_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    return value.bits;
  }
}

/// The index of a float among all floats of its type, counted from zero; both zeros are 0.
template <class T>
std::int64_t rank_of(T value) {
  const auto bits = bits_of(value);
  using Bits = std::decay_t<decltype(bits)>;
  constexpr Bits kSign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const auto magnitude = std::int64_t(bits & Bits(~kSign));
  return bits & kSign ? -magnitude : magnitude;
}

/// The number of steps between two floats, which may exceed integers for float64 of opposite signs.
template <class T>
double distance(T a, T b) {
  const double one = double(Arithmetic<T>(a)), other = double(Arithmetic<T>(b));
  if (std::isnan(one) && std::isnan(other)) return 0;
  if (std::isnan(one) || std::isnan(other)) return std::numeric_limits<double>::infinity();
  const std::int64_t x = rank_of(a), y = rank_of(b);
  const bool same_sign = (x < 0) == (y < 0);
  return same_sign ? std::fabs(double(x - y)) : std::fabs(double(x) - double(y));
}

double difference(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  return std::fabs(got - expected);
}

double over(double error, double size) { return error == 0 ? 0 : error / size; }

std::vector<std::int64_t> index_of(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> index(shape.rank());
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

void expect_alike(const Tensor& got, const Tensor& expected, const char* who) {
  const auto message = [&] {
    return fmt::format("{}: got {}, expected {}", who, to_string(got.desc()),
                       to_string(expected.desc()));
  };
  if (got.dtype() != expected.dtype()) throw TypeError(message());
  if (got.shape() != expected.shape()) throw ShapeError(message());
}

/// Sums over a tensor.
struct Sums {
  double l1 = 0, squares = 0, most = 0;
  void add(double value) {
    const double size = std::fabs(value);
    l1 += size;
    squares += size * size;
    most = detail::worse(most, size);
  }
};

}  // namespace

ErrorNorms error_norms(const Tensor& got, const Tensor& expected) {
  expect_alike(got, expected, "error_norms");
  ErrorNorms norms;
  dispatch(FloatTypes{}, got.dtype(), "error_norms", [&]<class T>() {
    const T *a = got.data<T>(), *b = expected.data<T>();
    Sums error, size;
    std::int64_t worst = -1;
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const double x = double(Arithmetic<T>(a[i])), y = double(Arithmetic<T>(b[i]));
      const double now = difference(x, y);
      if (now != 0 && !std::isnan(error.most) && !(now <= error.most)) worst = i;
      error.add(now);
      if (std::isfinite(y)) size.add(y);
      norms.ulp = std::max(norms.ulp, distance(a[i], b[i]));
    }
    norms.l1 = error.l1;
    norms.l2 = std::sqrt(error.squares);
    norms.l_infinity = error.most;
    norms.relative_l1 = over(norms.l1, size.l1);
    norms.relative_l2 = over(norms.l2, std::sqrt(size.squares));
    norms.relative_l_infinity = over(norms.l_infinity, size.most);
    if (worst >= 0) norms.place = index_of(worst, got.shape());
  });
  return norms;
}

Tensor absolute_difference(const Tensor& got, const Tensor& expected) {
  expect_alike(got, expected, "absolute_difference");
  Tensor result = Tensor::empty(DType::float64, got.shape());
  dispatch(NumberTypes{}, got.dtype(), "absolute_difference", [&]<class T>() {
    const T *a = got.data<T>(), *b = expected.data<T>();
    double* to = result.data<double>();
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      to[i] = difference(double(Arithmetic<T>(a[i])), double(Arithmetic<T>(b[i])));
    }
  });
  return result;
}

std::vector<Measurement> norm_records(const ErrorNorms& norms, const Measurement& like) {
  std::vector<Measurement> records;
  const auto add = [&](const char* metric, double value) -> Measurement& {
    Measurement& record = records.emplace_back(like);
    record.metric = metric;
    record.samples = {value};
    return record;
  };
  add("l1_error", norms.l1);
  add("l2_error", norms.l2);
  Measurement& largest = add("max_error", norms.l_infinity);
  if (!norms.place.empty())
    largest.conditions["at"] = finding(fmt::format("{}", fmt::join(norms.place, ",")));
  add("relative_l1_error", norms.relative_l1);
  add("relative_l2_error", norms.relative_l2);
  add("ulp_error", norms.ulp);
  return records;
}

}  // namespace d5
