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

/// Error feedback: keeps the compression error of each bucket, which is added to the next gradient.
///
/// Source: Seide et al., "1-Bit Stochastic Gradient Descent" (Interspeech 2014); Karimireddy et
/// al., "Error Feedback Fixes SignSGD and Other Gradient Compression Schemes" (ICML 2019).
class UnsentGradients {
 public:
  /// `who` is the exchange, for messages; without `keeps` there is no feedback.
  UnsentGradients(std::string who, bool keeps);

  /// Sets the buckets. Errors of buckets with an unchanged size are kept.
  /// Throws: TypeError for gradients that are not float32; as `restore`.
  void lay_out(Network& network, const std::vector<GradientBucket>& buckets);
  /// Sets the bucket's data to weight times gradient plus the kept error, and its padding to zero.
  void add_to(const GradientBucket& bucket, const ExchangeStep& step, Communicator& ranks);
  /// Counts a step that sends everything and leaves the errors unchanged.
  void count(const ExchangeStep& step) { steps_ = step.number + 1; }
  /// The tensor for the error of this step; undefined without feedback.
  [[nodiscard]] Tensor rest(const GradientBucket& bucket) const;
  /// The place for `GradientCompressor::start`; steps count on from a checkpoint. Valid until the
  /// next `lay_out`.
  [[nodiscard]] CompressionPlace place(const GradientBucket& bucket,
                                       const ExchangeStep& step) const;

  /// Number of steps, including those before a checkpoint.
  [[nodiscard]] std::int64_t steps() const { return first_step_ + steps_; }
  [[nodiscard]] ValueMap state() const;
  /// Restores the errors. Sizes are checked when the buckets are known. Throws: NotFound,
  /// ShapeError.
  void restore(const ValueMap& state);

 private:
  std::string who_;
  bool keeps_;
  std::int64_t first_step_ = 0, steps_ = 0;
  std::vector<std::vector<GradientPart>> parts_;  // by bucket
  BucketValues rests_;
};

}  // namespace d5::detail
