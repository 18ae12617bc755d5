// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/dataset.hpp"

namespace d5::detail {

/// Images in TFRecord files as published ones of ImageNet have them: of each Example
/// "image/encoded" and "image/class/label", and "image/filename" as its name. Becomes "image", a
/// scalar of strings, and "label" int64: `first_label` is written for the first class, which
/// becomes `label_offset`.
///
/// Source: TensorFlow, models/research/inception, build_imagenet_data.py.
class ImageRecords final : public Dataset {
 public:
  struct Labels {
    std::int64_t first_label = 1, label_offset = 0;
  };
  /// Reads where the records are, and none of them: by their lengths, or the indices beside.
  /// Throws: IoError, FormatError with file and byte, Interrupted.
  ImageRecords(std::string name, const std::vector<std::string>& files, Labels labels,
               const Interrupt& interrupt);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override { return records_->description(); }
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return records_->artefacts(); }
  [[nodiscard]] std::int64_t size() const override { return records_->size(); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    return records_->sample_name(index);
  }
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  [[nodiscard]] std::int64_t label(std::int64_t written, std::int64_t index) const;

  std::string name_;
  std::shared_ptr<const Dataset> records_;
  Labels labels_;
  std::vector<Field> fields_{{"image", {DType::string, {}}}, {"label", {DType::int64, {}}}};
};

}  // namespace d5::detail
