// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "level2_training/data/storage/example_fields.hpp"
#include "level2_training/data/storage/record_file.hpp"
#include "level2_training/data/storage/shard.hpp"

namespace d5::detail {

/// The Examples of a TFRecord file. Each record's checksum is verified when it is read.
class RecordShard final : public Shard {
 public:
  /// `index` gives the location of records and the fields to read; the bytes feature `name` of an
  /// Example is the sample's name.
  RecordShard(std::shared_ptr<const RecordFile> file, SampleIndex index,
              std::string name = std::string(kNameFeature));

  [[nodiscard]] const std::vector<Dataset::Field>& fields() const override { return index_.fields; }
  [[nodiscard]] std::int64_t size() const override { return index_.samples(); }
  [[nodiscard]] std::string place(std::int64_t index) const override;
  [[nodiscard]] std::string sample_name(std::int64_t index) const override;
  void read(std::int64_t index, SampleRow& row) const override;

 private:
  [[nodiscard]] std::int64_t begin(std::int64_t index) const {
    return index_.begins[std::size_t(index)];
  }
  [[nodiscard]] std::int64_t length(std::int64_t index) const {
    return index_.lengths[std::size_t(index)];
  }
  [[nodiscard]] std::string_view data(std::int64_t index) const {
    return file_->bytes().substr(std::size_t(begin(index)), std::size_t(length(index)));
  }

  std::shared_ptr<const RecordFile> file_;
  SampleIndex index_;
  ExampleReader reader_;
  std::string name_;
};

}  // namespace d5::detail
