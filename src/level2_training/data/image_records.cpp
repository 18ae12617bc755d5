// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/image_records.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level2_training/data/batch_check.hpp"
#include "level2_training/data/storage/record_shard.hpp"

namespace d5::detail {
namespace {

constexpr const char *kImage = "image/encoded", *kLabel = "image/class/label",
                     *kName = "image/filename";

std::shared_ptr<const Dataset> records_of(const std::vector<std::string>& files,
                                          const Interrupt& interrupt) {
  return join_shards(files, interrupt, [&](const std::string& path) {
    const auto file = std::make_shared<RecordFile>(path, interrupt);
    auto index = read_index(path, "tfrecord", file->bytes().size());
    if (!index) index = file->index(interrupt);
    index->fields = {{kImage, {DType::string, {}}}, {kLabel, {DType::int64, {}}}};
    return std::make_unique<RecordShard>(file, std::move(*index), kName);
  });
}

}  // namespace

ImageRecords::ImageRecords(std::string name, const std::vector<std::string>& files, Labels labels,
                           const Interrupt& interrupt)
    : name_(std::move(name)), records_(records_of(files, interrupt)), labels_(labels) {}

std::int64_t ImageRecords::label(std::int64_t written, std::int64_t index) const {
  if (written >= labels_.first_label) return written - labels_.first_label + labels_.label_offset;
  throw FormatError(fmt::format(
      "dataset {}: sample {} ({}) has the label {}, but they are said to count from "
      "{}; give first_label={}",
      name_, index, printable(sample_name(index)), written, labels_.first_label, written));
}

std::vector<std::int64_t> ImageRecords::labels(std::string_view field) const {
  if (field != "label") return Dataset::labels(field);  // which says what is wrong
  std::vector<std::int64_t> all = records_->labels(kLabel);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = label(all[i], std::int64_t(i));
  return all;
}

void ImageRecords::read(std::span<const std::int64_t> indices, const Draw& draw,
                        std::span<Tensor> batch) const {
  check_batch(*this, indices, batch);
  records_->read(indices, draw, batch);
  std::int64_t* to = batch[1].data<std::int64_t>();
  for (const std::int64_t index : indices) {
    *to = label(*to, index);
    ++to;
  }
}

}  // namespace d5::detail
