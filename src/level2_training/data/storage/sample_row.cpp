// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/shard.hpp"

namespace d5::detail {

void SampleRow::fail(std::size_t field, const std::string& what) const {
  const std::string name = shard_.sample_name(index_);
  throw FormatError(fmt::format(
      "'{}': sample {}{}, {}{}: {}", printable(shard_.file()), index_,
      name.empty() ? "" : fmt::format(" ('{}')", printable(name)), shard_.place(index_),
      field == kAll ? "" : fmt::format(", field '{}'", printable(fields_[field].name)), what));
}

std::int64_t SampleRow::element(std::size_t field, std::span<const std::int64_t> dims) {
  const TensorDesc& desc = fields_[field].desc;
  const auto fits = [](std::int64_t expected, std::int64_t given) {
    return expected == kUnknownDim || expected == given;
  };
  if (!std::ranges::equal(desc.shape, dims, fits)) {
    fail(field,
         fmt::format("is of shape {}, expected {}", to_string(Shape(dims)), to_string(desc.shape)));
  }
  if (desc.shape.is_static()) return row_ * desc.shape.elements();
  Shape shape{1};
  for (const std::int64_t dim : dims) shape.push_back(dim);
  batch_[field] = Tensor::empty(desc.dtype, shape);
  return 0;
}

std::byte* SampleRow::numbers(std::size_t field, std::span<const std::int64_t> dims) {
  const std::int64_t begin = element(field, dims);
  return static_cast<std::byte*>(batch_[field].raw()) +
         std::size_t(begin) * size_of(fields_[field].desc.dtype);
}

std::string* SampleRow::texts(std::size_t field, std::span<const std::int64_t> dims) {
  const std::int64_t begin = element(field, dims);
  return batch_[field].data<std::string>() + begin;
}

void SampleRow::put(std::size_t field, std::span<const std::int64_t> dims, std::string_view bytes) {
  const DType dtype = fields_[field].desc.dtype;
  std::size_t expected = size_of(dtype);
  bool overflows = false;
  for (const std::int64_t dim : dims) {
    overflows |= dim < 0 || __builtin_mul_overflow(expected, std::size_t(dim), &expected);
  }
  if (overflows || expected != bytes.size()) {
    fail(field, fmt::format("{} bytes do not make {} of shape {}", bytes.size(), name_of(dtype),
                            to_string(Shape(dims))));
  }
  std::byte* const to = numbers(field, dims);
  if (dtype == DType::boolean) {
    // A file may contain any byte, but a bool other than 0 or 1 is undefined.
    std::ranges::transform(bytes, reinterpret_cast<char*>(to), [](char b) { return char(b != 0); });
  } else if (!bytes.empty()) {
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

}  // namespace d5::detail
