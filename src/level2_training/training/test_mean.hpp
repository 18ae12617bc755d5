// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "d5/level2_training/rank_agreement.hpp"

namespace d5::detail {

/// A number's mean over the samples of a test run, from its means or sums over batches. Sums of
/// whole numbers are exact, whatever batches and ranks they come from.
class TestMean {
 public:
  void begin() { sum_ = 0, samples_ = 0; }
  void add(double mean, std::int64_t samples) { add_sum(mean * double(samples), samples); }
  void add_sum(double sum, std::int64_t samples) {
    sum_ += sum;
    samples_ += samples;
  }
  /// Takes over what other ranks have seen of this test run; once.
  void join(RankAgreement& ranks) {
    std::array both{sum_, double(samples_)};
    ranks.sum(both);
    sum_ = both[0];
    samples_ = std::int64_t(both[1]);
  }
  [[nodiscard]] bool empty() const { return samples_ == 0; }
  [[nodiscard]] double value() const { return sum_ / double(samples_); }

 private:
  double sum_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace d5::detail
