// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "d5/level2_training/data/sample_step.hpp"
#include "level2_training/data/image/pixel_loops.hpp"

namespace d5::detail {

/// (value / unit - mean) / deviation by channel, from bytes with channels last to float32 with
/// channels first. It is a table of 256 values for each channel.
class Normaliser {
 public:
  /// One mean and deviation for each channel, or one for all.
  Normaliser(std::vector<double> means, std::vector<double> deviations, double unit = 255);

  /// Throws: ShapeError if an image has another number of channels.
  void expect_channels(std::int64_t channels) const;
  void run(const SampleView& bytes, const SampleView& out) const;
  /// (value - mean) / deviation, in place.
  void run(const SampleView& floats) const;

 private:
  [[nodiscard]] std::size_t of_channel(std::int64_t channel) const {
    return means_.size() == 1 ? 0 : std::size_t(channel);
  }
  std::vector<double> means_, deviations_;
  std::vector<std::array<float, 256>> tables_;
  std::array<ByteLine, 3> lines_;  ///< for three channels
  bool lines_are_tables_ = false;  ///< whether they equal the tables bitwise
};

}  // namespace d5::detail
