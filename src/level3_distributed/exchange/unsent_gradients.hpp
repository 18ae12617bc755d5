// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "level3_distributed/exchange/bucket_values.hpp"

namespace d5::detail {

/// Error feedback: what a rank did not send of each bucket, and sends later.
///
/// Source: Seide et al., "1-Bit Stochastic Gradient Descent" (Interspeech 2014); Karimireddy et
/// al., "Error Feedback Fixes SignSGD and Other Gradient Compression Schemes" (ICML 2019).
class UnsentGradients {
 public:
  /// `who` is the exchange, for messages; without `keeps` nothing is kept.
  UnsentGradients(std::string who, bool keeps);

  /// Rests of buckets that have the size that they had stay.
  /// Throws: TypeError for gradients that are not float32; what `restore` throws.
  void lay_out(Network& network, const std::vector<GradientBucket>& buckets);
  /// Makes the bucket's data weight times gradient plus what was not sent, its padding zero.
  void add_to(const GradientBucket& bucket, const ExchangeStep& step, Communicator& ranks);
  /// A step that sends all there is, and so leaves the rests as they are.
  void count(const ExchangeStep& step) { steps_ = step.number + 1; }
  /// What is to be kept for the next step; undefined where nothing is.
  [[nodiscard]] Tensor rest(const GradientBucket& bucket) const;
  /// Steps count on from where a checkpoint was written. Valid until the next `lay_out`.
  [[nodiscard]] CompressionPlace place(const GradientBucket& bucket,
                                       const ExchangeStep& step) const;

  /// Steps that were made, those before a checkpoint among them.
  [[nodiscard]] std::int64_t steps() const { return first_step_ + steps_; }
  [[nodiscard]] ValueMap state() const;
  /// Sizes are checked when the buckets are known. Throws: NotFound, ShapeError.
  void restore(const ValueMap& state);

 private:
  std::string who_;
  bool keeps_;
  std::int64_t first_step_ = 0, steps_ = 0;
  std::vector<std::vector<GradientPart>> parts_;  // by bucket
  BucketValues rests_;
};

}  // namespace d5::detail
