// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/columns.hpp"
#include "level2_training/data/storage/little_endian.hpp"

namespace d5::detail {
namespace {

std::int64_t number(const char* column, std::int64_t index) {
  return from_little_endian<std::int64_t>(column + index * std::int64_t(sizeof(std::int64_t)));
}

}  // namespace

ColumnShard::ColumnShard(std::string file, std::shared_ptr<const void> owner,
                         std::vector<Column> columns,
                         std::optional<std::vector<Dataset::Field>> fields)
    : Shard(std::move(file)), owner_(std::move(owner)), columns_(std::move(columns)) {
  constexpr std::size_t kMost = 4096;
  if (columns_.size() > kMost) refuse(fmt::format("holds more than {} tensors", kMost));
  fields_ = fields ? std::move(*fields) : guessed_fields();
  if (fields_.empty()) refuse("holds no tensor");
  for (const auto& field : fields_) parts_.push_back(parts_of(field));
  if (!find(std::string(kNameColumn))) return;
  names_ = parts_of({std::string(kNameColumn), {DType::string, {}}});
}

void ColumnShard::refuse(const std::string& what) const {
  throw FormatError(fmt::format("'{}': {}", printable(file()), what));
}

const Column* ColumnShard::find(const std::string& name) const {
  const auto place = std::ranges::find(columns_, name, &Column::name);
  return place == columns_.end() ? nullptr : &*place;
}

const Column& ColumnShard::at(const std::string& name, DType dtype, std::size_t rank) const {
  const Column* const column = find(name);
  if (!column) refuse(fmt::format("has no tensor '{}', which its fields ask for", printable(name)));
  if (column->desc.dtype != dtype || column->desc.shape.rank() != rank) {
    refuse(fmt::format("tensor '{}' is {}, expected {} of {} dimensions", printable(name),
                       to_string(column->desc), name_of(dtype), rank));
  }
  return *column;
}

std::vector<Dataset::Field> ColumnShard::guessed_fields() const {
  std::vector<Dataset::Field> fields;
  for (const auto& [name, desc, bytes] : columns_) {
    const auto is_part = [&name = name, this](std::string_view of) {
      return name.ends_with(of) && find(name.substr(0, name.size() - of.size()));
    };
    if (name == kNameColumn || is_part("/ends") || is_part("/shapes")) continue;
    const Column* const ends = find(name + "/ends");
    const Column* const shapes = find(name + "/shapes");
    const TensorDesc& stored = ends ? ends->desc : desc;
    TensorDesc field{ends ? DType::string : desc.dtype, {}};
    if (shapes && shapes->desc.shape.rank() == 2) {
      const std::int64_t rank = shapes->desc.shape[1];
      if (rank < 1 || rank > 64) refuse(fmt::format("tensor '{}' is of rank {}", name, rank));
      field.shape = Shape(std::vector<std::int64_t>(std::size_t(rank), kUnknownDim));
    } else if (stored.shape.rank() > 0) {
      field.shape = Shape(stored.shape.dims().subspan(1));
    } else {
      refuse(
          fmt::format("tensor '{}' is a scalar, expected a dimension of samples", printable(name)));
    }
    fields.push_back({name, field});
  }
  return fields;
}

void ColumnShard::agree_on_size(std::int64_t samples, const std::string& name) {
  if (size_ < 0) size_ = samples;
  if (size_ == samples) return;
  refuse(fmt::format("tensor '{}' has {} samples, but '{}' has {}", printable(name), samples,
                     printable(fields_[0].name), size_));
}

ColumnShard::Parts ColumnShard::parts_of(const Dataset::Field& field) {
  const auto& [name, desc] = field;
  if (!desc.shape.is_static()) return open_parts(field);
  Parts parts;
  const bool is_text = desc.dtype == DType::string;
  const Column& column = is_text ? at(name + "/ends", DType::int64, desc.shape.rank() + 1)
                                 : at(name, desc.dtype, desc.shape.rank() + 1);
  if (!std::ranges::equal(column.desc.shape.dims().subspan(1), desc.shape.dims())) {
    refuse(fmt::format("tensor '{}' is {}, expected samples of shape {}", printable(column.name),
                       to_string(column.desc), to_string(desc.shape)));
  }
  agree_on_size(column.desc.shape[0], column.name);
  parts.bytes = column.bytes;
  if (is_text) {
    parts.ends = column.bytes.data();
    parts.bytes = at(name, DType::uint8, 1).bytes;
    check_ends(parts, column.desc.elements(), name);
  }
  return parts;
}

ColumnShard::Parts ColumnShard::open_parts(const Dataset::Field& field) {
  const auto& [name, desc] = field;
  const bool is_text = desc.dtype == DType::string;
  const Column& shapes = at(name + "/shapes", DType::int64, 2);
  const std::int64_t rank = shapes.desc.shape[1];
  if (rank != std::int64_t(desc.shape.rank())) {
    refuse(fmt::format("tensor '{}' is {}, expected {} dimensions of each sample",
                       printable(shapes.name), to_string(shapes.desc), desc.shape.rank()));
  }
  agree_on_size(shapes.desc.shape[0], shapes.name);
  const Column& column = is_text ? at(name + "/ends", DType::int64, 1) : at(name, desc.dtype, 1);
  Parts parts{.bytes = is_text ? at(name, DType::uint8, 1).bytes : column.bytes,
              .ends = is_text ? column.bytes.data() : nullptr,
              .shapes = shapes.bytes.data(),
              .begins = {}};
  parts.begins.reserve(std::size_t(size_) + 1);
  parts.begins.push_back(0);
  const std::int64_t most = column.desc.elements();
  for (std::int64_t sample = 0; sample < size_; ++sample) {
    std::int64_t elements = 1;
    bool fits = true;
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t dim = number(parts.shapes, sample * rank + d);
      fits = fits && dim >= 0 && !__builtin_mul_overflow(elements, dim, &elements);
    }
    if (!fits || elements > most - parts.begins.back()) {
      refuse(fmt::format("tensor '{}': sample {} is larger than what '{}' holds",
                         printable(shapes.name), sample, printable(column.name)));
    }
    parts.begins.push_back(parts.begins.back() + elements);
  }
  if (is_text) check_ends(parts, parts.begins.back(), name);
  return parts;
}

/// Checks that the ends increase and lie within the bytes.
void ColumnShard::check_ends(const Parts& parts, std::int64_t strings,
                             const std::string& name) const {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < strings; ++i) {
    const std::int64_t end = number(parts.ends, i);
    if (end < last || end > std::int64_t(parts.bytes.size())) {
      refuse(fmt::format("tensor '{}/ends': string {} ends at byte {}, expected {} to {}",
                         printable(name), i, end, last, parts.bytes.size()));
    }
    last = end;
  }
}

std::string_view ColumnShard::text(const Parts& parts, std::int64_t index) const {
  const std::int64_t begin = index == 0 ? 0 : number(parts.ends, index - 1);
  return parts.bytes.substr(std::size_t(begin), std::size_t(number(parts.ends, index) - begin));
}

std::string ColumnShard::sample_name(std::int64_t index) const {
  return names_ ? std::string(text(*names_, index)) : std::string();
}

std::string ColumnShard::place(std::int64_t index) const {
  return fmt::format("row {} of its tensors", index);
}

void ColumnShard::read(std::int64_t index, SampleRow& row) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    if (!row.wants(f)) continue;
    const auto& desc = fields_[f].desc;
    const Parts& parts = parts_[f];
    const std::size_t rank = desc.shape.rank();
    std::int64_t begin = 0, count = 0;
    std::span<const std::int64_t> dims = desc.shape.dims();
    std::vector<std::int64_t> own_dims;
    if (parts.shapes) {
      for (std::size_t d = 0; d < rank; ++d) {
        own_dims.push_back(number(parts.shapes, index * std::int64_t(rank) + std::int64_t(d)));
      }
      dims = own_dims;
      begin = parts.begins[std::size_t(index)];
      count = parts.begins[std::size_t(index) + 1] - begin;
    } else {
      count = desc.shape.elements();
      begin = index * count;
    }
    if (parts.ends) {
      std::string* const to = row.texts(f, dims);
      for (std::int64_t i = 0; i < count; ++i) to[i].assign(text(parts, begin + i));
    } else {
      const std::size_t size = size_of(desc.dtype);
      row.put(f, dims, parts.bytes.substr(std::size_t(begin) * size, std::size_t(count) * size));
    }
  }
}

}  // namespace d5::detail
