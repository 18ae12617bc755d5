// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {

bool Shape::is_static() const {
  return std::none_of(dims_.begin(), dims_.end(), [](auto d) { return d == kUnknownDim; });
}

std::int64_t Shape::elements() const { return elements(0, rank()); }

std::int64_t Shape::elements(std::size_t begin, std::size_t end) const {
  std::int64_t product = 1;  // product of the sizes other than 0, which determine strides
  bool zero = false;
  for (std::size_t i = begin; i < end; ++i) {
    const std::int64_t size = dims_[i];
    if (size < 0) {
      throw ShapeError(fmt::format("shape {} has no number of elements", to_string(*this)));
    }
    if (size == 0) {
      zero = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      throw ShapeError(
          fmt::format("shape {} is too large: the product of its nonzero sizes exceeds 2^63 - 1",
                      to_string(*this)));
    }
  }
  return zero ? 0 : product;
}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> result(rank(), 1);
  for (std::size_t i = rank(); i-- > 1;) result[i - 1] = result[i] * dims_[i];
  return result;
}

std::string to_string(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  std::string result;
  for (const auto dim : shape) {
    if (!result.empty()) result += 'x';
    result += dim == kUnknownDim ? "?" : fmt::format("{}", dim);
  }
  return result;
}

Shape broadcast(const Shape& a, const Shape& b) {
  std::vector<std::int64_t> dims(std::max(a.rank(), b.rank()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t da = i < a.rank() ? a[a.rank() - 1 - i] : 1;
    const std::int64_t db = i < b.rank() ? b[b.rank() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      throw ShapeError(
          fmt::format("{} and {} cannot be broadcast: {} against {}, counted from the "
                      "last dimension; they must be equal or 1",
                      to_string(a), to_string(b), da, db));
    }
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  return Shape(std::move(dims));
}

std::size_t normalize_axis(std::int64_t axis, std::size_t rank, std::string_view who) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n) {
    throw ValueError(fmt::format("{}: axis is {}, expected one in [{}, {}] for {} dimensions", who,
                                 axis, -n, n - 1, n));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

}  // namespace d5
