// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/pixel_dataset.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5::detail {

PixelDataset::PixelDataset(LabelledPixels data, const PixelScale& scale)
    : data_(std::move(data)),
      fields_{{"image", {DType::float32, Shape({data_.shape[0], data_.shape[1], data_.shape[2]})}},
              {"label", {DType::int64, {}}}},
      scaled_(std::size_t(data_.shape[0])) {
  if (scale.means.size() != scaled_.size() || scale.deviations.size() != scaled_.size()) {
    throw ValueError(
        fmt::format("dataset {}: {} means and {} deviations are given, expected one for each of "
                    "{} channels",
                    data_.name, scale.means.size(), scale.deviations.size(), scaled_.size()));
  }
  for (std::size_t c = 0; c < scaled_.size(); ++c) {
    for (int byte = 0; byte < 256; ++byte) {
      scaled_[c][std::size_t(byte)] = float((byte / 255.0 - scale.means[c]) / scale.deviations[c]);
    }
  }
}

std::string PixelDataset::description() const {
  return fmt::format("{} {}", size(), data_.content);
}

std::vector<std::int64_t> PixelDataset::labels(std::string_view field) const {
  if (field != "label") return Dataset::labels(field);  // throws the error
  return {data_.labels.begin(), data_.labels.end()};
}

void PixelDataset::read(std::span<const std::int64_t> indices, const Draw&,
                        std::span<Tensor> batch) const {
  check_batch(*this, indices, batch);
  const auto plane = std::size_t(data_.shape[1] * data_.shape[2]);
  float* image = batch[0].data<float>();
  std::int64_t* label = batch[1].data<std::int64_t>();
  for (const std::int64_t index : indices) {
    const std::uint8_t* bytes = data_.pixels.data() + std::size_t(index) * scaled_.size() * plane;
    for (const auto& scaled : scaled_) {
      for (std::size_t i = 0; i < plane; ++i) image[i] = scaled[bytes[i]];
      image += plane;
      bytes += plane;
    }
    *label++ = data_.labels[std::size_t(index)];
  }
}

}  // namespace d5::detail
