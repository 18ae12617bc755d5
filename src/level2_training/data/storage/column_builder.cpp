// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/columns.hpp"
#include "level2_training/data/storage/little_endian.hpp"

namespace d5::detail {

ColumnBuilder::ColumnBuilder(std::string who, std::vector<Dataset::Field> fields)
    : who_(std::move(who)), fields_(std::move(fields)), parts_(fields_.size()) {
  std::set<std::string> names{std::string(kNameColumn)};
  for (const auto& [name, desc] : fields_) {
    for (const char* part : {"", "/ends", "/shapes"}) {
      if (names.insert(name + part).second) continue;
      throw Unsupported(
          fmt::format("{}: two tensors would be called '{}'; give a field another name", who_,
                      printable(name + part)));
    }
  }
}

void ColumnBuilder::add_text(Parts& parts, const std::string& text) {
  parts.bytes += text;
  parts.ends += to_little_endian(std::int64_t(parts.bytes.size()));
  ++parts.strings;
  bytes_ += text.size() + sizeof(std::int64_t);
}

void ColumnBuilder::add(const std::string& name, std::span<const Tensor> sample) {
  has_names_ |= name != std::to_string(samples_);
  add_text(names_, name);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    Parts& parts = parts_[f];
    const Tensor tensor = sample[f].on_host();
    if (tensor.dtype() == DType::string) {
      for (const auto& text : tensor.span<std::string>()) add_text(parts, text);
    } else if (tensor.bytes() > 0) {
      parts.bytes.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
      bytes_ += tensor.bytes();
    }
    parts.elements += tensor.elements();
    if (fields_[f].desc.shape.is_static()) continue;
    for (const std::int64_t dim : tensor.shape().dims().subspan(1)) {
      parts.shapes += to_little_endian(dim);
      bytes_ += sizeof(std::int64_t);
    }
  }
  ++samples_;
  if (bytes_ > memory_budget()) {
    throw MemoryError(
        fmt::format("{}: a file's samples are gathered in memory, {} are above its budget of {} "
                    "bytes; spread them over smaller shards",
                    who_, bytes_, memory_budget()));
  }
}

std::vector<Column> ColumnBuilder::finish() {
  std::vector<Column> columns;
  const auto add_strings = [&](const std::string& name, const Parts& parts, const Shape& ends) {
    columns.push_back({name, {DType::uint8, {std::int64_t(parts.bytes.size())}}, parts.bytes});
    columns.push_back({name + "/ends", {DType::int64, ends}, parts.ends});
  };
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const auto& [name, desc] = fields_[f];
    const Parts& parts = parts_[f];
    const bool is_open = !desc.shape.is_static();
    Shape shape{is_open ? parts.elements : samples_};
    if (is_open) {
      columns.push_back({name + "/shapes",
                         {DType::int64, {samples_, std::int64_t(desc.shape.rank())}},
                         parts.shapes});
    } else {
      for (const std::int64_t dim : desc.shape) shape.push_back(dim);
    }
    if (desc.dtype == DType::string) {
      add_strings(name, parts, shape);
    } else {
      columns.push_back({name, {desc.dtype, shape}, parts.bytes});
    }
  }
  if (has_names_) add_strings(std::string(kNameColumn), names_, {samples_});
  std::ranges::stable_sort(columns, std::ranges::greater(),
                           [](const Column& column) { return size_of(column.desc.dtype); });
  return columns;
}

}  // namespace d5::detail
