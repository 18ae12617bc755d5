// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// A number's mean over the samples of a test run, from its means over batches.
class TestMean {
 public:
  void begin() { sum_ = 0, samples_ = 0; }
  void add(double mean, std::int64_t samples) {
    sum_ += mean * double(samples);
    samples_ += samples;
  }
  [[nodiscard]] bool empty() const { return samples_ == 0; }
  [[nodiscard]] double value() const { return sum_ / double(samples_); }

 private:
  double sum_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace d5::detail
