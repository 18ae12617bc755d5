// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/record_shard.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

RecordShard::RecordShard(std::shared_ptr<const RecordFile> file, SampleIndex index,
                         std::string name)
    : Shard(file->path()),
      file_(std::move(file)),
      index_(std::move(index)),
      reader_(index_.fields),
      name_(std::move(name)) {}

std::string RecordShard::place(std::int64_t index) const {
  return fmt::format("byte {}", begin(index) - RecordFile::kBefore);
}

std::string RecordShard::sample_name(std::int64_t index) const {
  if (!file_->flaw(begin(index), length(index)).empty()) return {};
  std::string name;
  try {
    for_each_feature(data(index), [&](const Feature& feature) {
      if (feature.name != name_ || feature.kind != Feature::Kind::bytes) return;
      feature.for_each_bytes([&](std::string_view value) { name = value; });
    });
  } catch (const FormatError&) {
    return {};  // reading the sample reports it
  }
  return name;
}

void RecordShard::read(std::int64_t index, SampleRow& row) const {
  const std::string flaw = file_->flaw(begin(index), length(index));
  if (!flaw.empty()) row.fail(flaw);
  reader_.read(data(index), row);
}

}  // namespace d5::detail
