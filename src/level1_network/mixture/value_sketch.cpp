// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/value_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace d5 {
namespace {

/// 64 random signs for element `i`. Source: Steele et al., "Fast Splittable Pseudorandom Number
/// Generators" (2014), SplitMix64.
std::uint64_t signs_of(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

template <class T>
ValueSketch sketch_of(std::span<const T> elements) {
  ValueSketch result;
  double squares = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto x = double(elements[i]);
    squares += x * x;
    const std::uint64_t signs = signs_of(i);
    for (std::size_t k = 0; k < result.projections.size(); ++k) {
      result.projections[k] += (signs >> k & 1) != 0 ? x : -x;
    }
  }
  const double count = std::max(1.0, double(elements.size()));
  for (double& projection : result.projections) projection /= std::sqrt(count);
  result.root_mean_square = std::sqrt(squares / count);
  result.finite = std::isfinite(squares);
  result.is_short = sizeof(T) < sizeof(float);
  return result;
}

}  // namespace

std::optional<ValueSketch> sketch(const Tensor& tensor) {
  if (!tensor.defined() || !is_floating_point(tensor.dtype()) || tensor.device() != Device{} ||
      tensor.desc().layout != Layout::row_major) {
    return std::nullopt;
  }
  std::optional<ValueSketch> result;
  dispatch(FloatTypes{}, tensor.dtype(), "sketch",
           [&]<class T>() { result = sketch_of<T>(tensor.span<T>()); });
  return result;
}

std::optional<ValueSketch> sketch(const Value* value) {
  return value && value->is_tensor() ? sketch(value->tensor()) : std::nullopt;
}

bool differ_grossly(const ValueSketch& a, const ValueSketch& b, double least) {
  if (!a.finite || !b.finite) return a.finite != b.finite;
  const double gross = a.is_short || b.is_short ? 0.5 : 0.1;
  double squares = 0;
  for (std::size_t k = 0; k < a.projections.size(); ++k) {
    const double difference = a.projections[k] - b.projections[k];
    squares += difference * difference;
  }
  const double distance = std::sqrt(squares / double(a.projections.size()));
  return distance > gross * std::max(a.root_mean_square, b.root_mean_square) && distance > least;
}

}  // namespace d5
