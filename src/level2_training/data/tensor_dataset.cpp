// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/tensor_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "level2_training/data/batch_check.hpp"

namespace d5 {
namespace {

void copy_texts(const Tensor& from, std::span<const std::int64_t> indices, Tensor& to) {
  const std::int64_t each = from.elements() / from.shape()[0];
  std::string* text = to.data<std::string>();
  for (const std::int64_t index : indices) {
    text = std::copy_n(from.data<std::string>() + index * each, each, text);
  }
}

}  // namespace

TensorDataset::TensorDataset(std::string name, std::vector<std::pair<std::string, Tensor>> fields)
    : name_(std::move(name)) {
  if (fields.empty()) {
    throw ValueError(
        fmt::format("dataset '{}' has no fields; give one at least", printable(name_)));
  }
  for (auto& [field, tensor] : fields) {
    const auto dims = tensor.shape().dims();
    if (dims.empty()) {
      throw ShapeError(
          fmt::format("dataset '{}': field '{}' is a scalar; dimension 0 is the sample",
                      printable(name_), printable(field)));
    }
    if (tensors_.empty()) {
      size_ = dims[0];
    } else if (dims[0] != size_) {
      throw ShapeError(fmt::format("dataset '{}': field '{}' has {} samples, but '{}' has {}",
                                   printable(name_), printable(field), dims[0],
                                   printable(fields_[0].name), size_));
    }
    fields_.push_back({std::move(field), {tensor.dtype(), Shape(dims.subspan(1))}});
    tensors_.push_back(std::move(tensor));
  }
}

void TensorDataset::read(std::span<const std::int64_t> indices, const Draw&,
                         std::span<Tensor> batch) const {
  detail::check_batch(*this, indices, batch);
  for (std::size_t f = 0; f < tensors_.size(); ++f) {
    if (fields_[f].desc.dtype == DType::string) {
      copy_texts(tensors_[f], indices, batch[f]);
      continue;
    }
    const std::size_t bytes = fields_[f].desc.bytes();
    const auto* from = static_cast<const std::byte*>(tensors_[f].raw());
    auto* to = static_cast<std::byte*>(batch[f].raw());
    for (const std::int64_t index : indices) {
      std::memcpy(to, from + std::size_t(index) * bytes, bytes);
      to += bytes;
    }
  }
}

}  // namespace d5
