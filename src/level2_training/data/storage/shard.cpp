// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/files_read.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5::detail {
namespace {

class ShardedDataset final : public Dataset {
 public:
  explicit ShardedDataset(std::vector<std::unique_ptr<Shard>> shards)
      : shards_(std::move(shards)), fields_(shards_.at(0)->fields()) {
    for (const auto& shard : shards_) {
      open_differing_dims(*shard);
      begins_.push_back(size_);
      size_ += shard->size();
    }
  }

  [[nodiscard]] std::string name() const override {
    return std::filesystem::path(shards_[0]->file()).filename().string();
  }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} samples from {}{}", size_, printable(shards_[0]->file()),
                       shards_.size() == 1 ? "" : fmt::format(" and {} more", shards_.size() - 1));
  }
  [[nodiscard]] std::vector<Artefact> artefacts() const override {
    std::vector<Artefact> files;
    for (const auto& shard : shards_) {
      std::error_code ignored;
      FilesRead::note(shard->file());
      const auto bytes = std::filesystem::file_size(shard->file(), ignored);
      files.push_back({.name = std::filesystem::path(shard->file()).filename().string(),
                       .version = fmt::format("{} samples, {} bytes", shard->size(), bytes)});
    }
    return files;
  }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }

  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    check(index);
    const auto [shard, local] = find(index);
    std::string name = shard.sample_name(local);
    return name.empty() ? std::to_string(index) : name;
  }

  [[nodiscard]] Shape sample_shape(std::size_t field, std::int64_t index) const override {
    const TensorDesc& desc = fields_.at(field).desc;
    if (desc.shape.is_static()) return desc.shape;
    check(index);
    std::vector<Tensor> sample(fields_.size());
    read_one(index, sample, 0, field);
    return Shape(sample[field].shape().dims().subspan(1));
  }

  /// Reads no other field.
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view name) const override {
    const auto place = std::ranges::find(fields_, name, &Field::name);
    const bool is_label = place != fields_.end() && place->desc.dtype == DType::int64 &&
                          place->desc.shape.rank() == 0;
    if (!is_label) return Dataset::labels(name);  // throws the error
    const auto field = std::size_t(place - fields_.begin());
    std::vector<std::int64_t> all(static_cast<std::size_t>(size_));
    std::vector<Tensor> batch(fields_.size());
    batch[field] = Tensor::borrow({DType::int64, {size_}}, all.data());
    for (std::int64_t index = 0; index < size_; ++index) read_one(index, batch, index, field);
    return all;
  }

  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    check_batch(*this, indices, batch);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      read_one(indices[row], batch, std::int64_t(row), SampleRow::kAll);
    }
  }

 private:
  struct Place {
    const Shard& shard;
    std::int64_t index;
  };
  [[nodiscard]] Place find(std::int64_t index) const {
    const auto after = std::ranges::upper_bound(begins_, index);
    const auto shard = std::size_t(after - begins_.begin()) - 1;
    return {*shards_[shard], index - begins_[shard]};
  }

  void check(std::int64_t index) const {
    if (index >= 0 && index < size_) return;
    throw ValueError(fmt::format("dataset '{}': sample {} was asked for, but it has {}",
                                 printable(name()), index, size_));
  }

  void read_one(std::int64_t index, std::span<Tensor> batch, std::int64_t row,
                std::size_t only) const {
    const auto [shard, local] = find(index);
    SampleRow place(shard, local, fields_, batch, row, only);
    shard.read(local, place);
  }

  void open_differing_dims(const Shard& shard) {
    const auto& others = shard.fields();
    bool fits = others.size() == fields_.size();
    for (std::size_t f = 0; fits && f < fields_.size(); ++f) {
      auto& [name, desc] = fields_[f];
      const auto& other = others[f];
      fits = other.name == name && other.desc.dtype == desc.dtype &&
             other.desc.shape.rank() == desc.shape.rank();
      for (std::size_t d = 0; fits && d < desc.shape.rank(); ++d) {
        if (other.desc.shape[d] != desc.shape[d]) desc.shape[d] = kUnknownDim;
      }
    }
    if (!fits) {
      throw FormatError(fmt::format("'{}' holds other fields ({}) than '{}' ({}); open them apart",
                                    printable(shard.file()), words(others),
                                    printable(shards_[0]->file()), words(shards_[0]->fields())));
    }
  }

  static std::string words(const std::vector<Field>& fields) {
    std::string text;
    for (const auto& [name, desc] : fields) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(name), to_string(desc));
    }
    return text;
  }

  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Field> fields_;
  std::vector<std::int64_t> begins_;  ///< first sample of each shard
  std::int64_t size_ = 0;
};

}  // namespace

std::shared_ptr<const Dataset> join_shards(std::vector<std::unique_ptr<Shard>> shards) {
  return std::make_shared<ShardedDataset>(std::move(shards));
}

}  // namespace d5::detail
