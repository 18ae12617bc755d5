// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// Images of one size and their classes, as bytes.
struct LabelledPixels {
  std::string name;
  std::string content;                ///< for descriptions: "MNIST images from FOLDER"
  std::array<std::int64_t, 3> shape;  ///< channels, height, width
  std::vector<std::uint8_t> pixels;   ///< image by image, channel by channel, row by row
  std::vector<std::uint8_t> labels;   ///< one an image
  std::vector<Artefact> files;
};

/// Scaling of a pixel by channel: (p / 255 - mean) / deviation.
struct PixelScale {
  std::vector<double> means, deviations;
};

/// Fields "image" float32 {channels, height, width}, normalised, and "label" int64. Images are
/// stored as bytes; a batch is normalised when it is read.
class PixelDataset final : public Dataset {
 public:
  /// Throws: ValueError for a scale with another number of channels.
  PixelDataset(LabelledPixels data, const PixelScale& scale);

  [[nodiscard]] std::string name() const override { return data_.name; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return data_.files; }
  [[nodiscard]] std::int64_t size() const override { return std::int64_t(data_.labels.size()); }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::vector<std::int64_t> labels(std::string_view field) const override;
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override;

 private:
  LabelledPixels data_;
  std::vector<Field> fields_;
  std::vector<std::array<float, 256>> scaled_;  ///< scaled value of each byte, by channel
};

}  // namespace d5::detail
