// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace d5 {

/// A dimension that is known only at run time.
inline constexpr std::int64_t kUnknownDim = -1;

/// The dimensions of a tensor, outermost first. A scalar has none.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  explicit Shape(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  [[nodiscard]] std::size_t rank() const { return dims_.size(); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  [[nodiscard]] std::int64_t& operator[](std::size_t i) { return dims_[i]; }
  [[nodiscard]] std::span<const std::int64_t> dims() const { return dims_; }
  [[nodiscard]] auto begin() const { return dims_.begin(); }
  [[nodiscard]] auto end() const { return dims_.end(); }
  void push_back(std::int64_t dim) { dims_.push_back(dim); }

  /// True if no dimension is unknown.
  [[nodiscard]] bool is_static() const;
  /// The number of elements. Throws: ShapeError if unknown, negative or above 2^63 - 1.
  [[nodiscard]] std::int64_t elements() const;
  /// Elements in dimensions [begin, end), without overflow checks beyond those of `elements`.
  [[nodiscard]] std::int64_t elements(std::size_t begin, std::size_t end) const;
  /// Distance in elements between neighbours along each dimension, row-major.
  [[nodiscard]] std::vector<std::int64_t> strides() const;

  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> dims_;
};

/// "2x3x4"; "scalar" without dimensions; "?" for an unknown one.
[[nodiscard]] std::string to_string(const Shape& shape);

/// The shape of an elementwise result. Source: ONNX, "Multidirectional Broadcasting" (NumPy's
/// rule). Throws: ShapeError.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);

/// `axis` counted from the front: a negative one counts from the back.
/// Throws: ValueError outside [-rank, rank), with a message that begins with `who`.
[[nodiscard]] std::size_t normalize_axis(std::int64_t axis, std::size_t rank, std::string_view who);

}  // namespace d5
