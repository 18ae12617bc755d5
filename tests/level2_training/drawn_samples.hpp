// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5::test {

/// Samples of one number, random by the draw, a text, and (with `ragged`) a row of as many
/// numbers as the sample's own says, modulo 5. Some take longer than others; some are broken.
class DrawnSamples final : public Dataset {
 public:
  explicit DrawnSamples(std::int64_t size, bool ragged = false) : size_(size) {
    if (ragged) fields_.push_back({"row", {DType::int32, {kUnknownDim}}});
  }
  std::set<std::int64_t> broken;
  std::atomic<bool> interrupted = false;
  mutable std::atomic<std::int64_t> furthest = -1;  ///< sample that was read
  std::function<void(std::int64_t sample)> while_reading = [](std::int64_t) {};

  std::string name() const override { return "drawn"; }
  std::int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  std::vector<std::int64_t> labels(std::string_view) const override {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < size_; ++i) all.push_back(i % 3);
    return all;
  }
  void read(std::span<const std::int64_t> indices, const Draw& draw,
            std::span<Tensor> batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t sample = indices[i];
      if (interrupted) throw Interrupted("drawn: interrupted");
      while_reading(sample);
      RandomStream work(0);
      for (std::int64_t turn = 0; turn < sample % 4 * 500; ++turn) (void)work.bits();
      for (std::int64_t seen = furthest; seen < sample;)
        furthest.compare_exchange_weak(seen, sample);
      if (broken.contains(sample)) throw FormatError("drawn: sample " + std::to_string(sample));
      batch[0].span<float>()[i] = draw.stream("value", sample).uniform();
      batch[1].span<std::string>()[i] = "sample " + std::to_string(sample);
      if (fields_.size() < 3) continue;
      batch[2] = Tensor::empty(DType::int32, {1, sample % 5});
      for (auto& value : batch[2].span<std::int32_t>()) value = std::int32_t(sample);
    }
  }

 private:
  std::int64_t size_;
  std::vector<Field> fields_{{"value", {DType::float32, {}}}, {"text", {DType::string, {}}}};
};

/// All that a batch says.
inline std::string words_of(const Batch& batch) {
  std::string words = std::to_string(batch.epoch) + "." + std::to_string(batch.index) + " of " +
                      std::to_string(batch.global_size);
  for (const std::int64_t sample : batch.samples) words += " " + std::to_string(sample);
  for (const auto& [name, value] : batch.values)
    words += "; " + name + " " + to_string(value.tensor(), 99);
  return words;
}

inline std::vector<std::string> rest_of_epoch(Sampler& sampler) {
  std::vector<std::string> batches;
  while (const Batch* batch = sampler.next()) batches.push_back(words_of(*batch));
  return batches;
}

}  // namespace d5::test
