// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/padded_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using PaddedTypes = Join<NumberTypes, Types<bool>>;

template <class T>
bool holds(double value) {
  if constexpr (!std::is_integral_v<T>) return true;
  using Limits = std::numeric_limits<T>;
  return value == std::trunc(value) && value >= double(Limits::lowest()) &&
         value < std::ldexp(1.0, Limits::digits);
}

std::vector<std::byte> element_of(DType dtype, double value, const std::string& who) {
  std::vector<std::byte> bytes(size_of(dtype));
  dispatch(PaddedTypes{}, dtype, who, [&]<class T>() {
    if (!holds<T>(value)) {
      throw ValueError(fmt::format("{}: pad is {}, which {} cannot represent; choose another", who,
                                   value, name_of(dtype)));
    }
    const T element(static_cast<Arithmetic<T>>(value));
    std::memcpy(bytes.data(), &element, sizeof element);
  });
  return bytes;
}

std::int64_t product(std::span<const std::int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>{});
}

/// Copies an array of shape `small` to the start, in every dimension, of an array of shape `large`;
/// an element is `unit` of T.
template <class T>
void copy_to_front(const T* from, std::span<const std::int64_t> small, T* to,
                   std::span<const std::int64_t> large, std::int64_t unit) {
  if (small.empty()) {
    std::copy_n(from, unit, to);
    return;
  }
  const auto inner_small = small.subspan(1), inner_large = large.subspan(1);
  const std::int64_t step = product(inner_small) * unit;
  if (std::ranges::equal(inner_small, inner_large)) {
    std::copy_n(from, small[0] * step, to);
    return;
  }
  const std::int64_t large_step = product(inner_large) * unit;
  for (std::int64_t i = 0; i < small[0]; ++i) {
    copy_to_front(from + i * step, inner_small, to + i * large_step, inner_large, unit);
  }
}

}  // namespace

std::string length_field(const std::string& field) { return field + ".length"; }

PaddedField::PaddedField(const Dataset& dataset, std::size_t field, std::int64_t samples,
                         double pad)
    : who_(fmt::format("dataset '{}': field '{}'", printable(dataset.name()),
                       printable(dataset.fields()[field].name))),
      field_(field),
      desc_(dataset.fields()[field].desc) {
  for (std::size_t d = 0; d < desc_.shape.rank(); ++d) {
    if (desc_.shape[d] == kUnknownDim) open_.push_back(d);
  }
  if (desc_.dtype != DType::string) pad_ = element_of(desc_.dtype, pad, who_);
  Shape lengths{samples};
  if (open_.size() > 1) lengths.push_back(std::int64_t(open_.size()));
  lengths_ = Tensor::zeros(DType::int64, lengths);
}

void PaddedField::check(const Tensor& sample) const {
  const auto dims = sample.shape().dims();
  bool fits =
      sample.dtype() == desc_.dtype && dims.size() == desc_.shape.rank() + 1 && dims[0] == 1;
  for (std::size_t d = 0; fits && d < desc_.shape.rank(); ++d) {
    fits = desc_.shape[d] == kUnknownDim || desc_.shape[d] == dims[d + 1];
  }
  if (fits) return;
  throw ContractError(fmt::format("{}: a sample was read into {}, expected 1 of {}", who_,
                                  sample.defined() ? to_string(sample.desc()) : "nothing",
                                  to_string(desc_)));
}

void PaddedField::gather(std::span<const std::vector<Tensor>> reads) {
  largest_.assign({std::int64_t(reads.size())});
  largest_.insert(largest_.end(), desc_.shape.begin(), desc_.shape.end());
  for (const std::size_t d : open_) largest_[d + 1] = 0;
  auto* length = lengths_.data<std::int64_t>();
  bool alike = true;
  for (const auto& read : reads) {
    const Tensor& sample = read[field_];
    check(sample);
    for (const std::size_t d : open_) {
      *length = sample.shape()[d + 1];
      alike = alike && *length == reads[0][field_].shape()[d + 1];
      largest_[d + 1] = std::max(largest_[d + 1], *length++);
    }
  }
  if (!values_.defined() || !std::ranges::equal(values_.shape(), largest_)) {
    const TensorDesc desc{desc_.dtype, Shape(largest_)};
    if (!storage_.defined() || storage_.bytes() < desc.bytes()) storage_ = Tensor::empty(desc);
    values_ = storage_.view(0, desc);
  }
  if (!alike) fill();
  const std::int64_t unit = desc_.dtype == DType::string ? 1 : std::int64_t(size_of(desc_.dtype));
  const auto large = std::span<const std::int64_t>(largest_).subspan(1);
  const std::int64_t step = product(large) * unit;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Tensor& sample = reads[i][field_];
    const auto small = sample.shape().dims().subspan(1);
    const std::int64_t place = std::int64_t(i) * step;
    if (desc_.dtype == DType::string) {
      copy_to_front(sample.data<std::string>(), small, values_.data<std::string>() + place, large,
                    unit);
    } else {
      copy_to_front(static_cast<const std::byte*>(sample.raw()), small,
                    static_cast<std::byte*>(values_.raw()) + place, large, unit);
    }
  }
}

void PaddedField::fill() {
  if (desc_.dtype == DType::string) {
    for (std::string& text : values_.span<std::string>()) text.clear();
    return;
  }
  auto* to = static_cast<std::byte*>(values_.raw());
  for (std::int64_t i = 0; i < values_.elements(); ++i, to += pad_.size()) {
    std::memcpy(to, pad_.data(), pad_.size());
  }
}

}  // namespace d5::detail
