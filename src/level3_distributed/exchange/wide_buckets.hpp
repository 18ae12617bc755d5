// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5::detail {

/// Converts buckets of float16 and bfloat16 to float32, for an exchange that computes in float32;
/// others are unchanged. The result is rounded once.
///
///     const GradientBucket& wide = wide_.take(bucket);
///     return wide_.give_back(ranks, bucket, start_on(wide));
class WideBuckets {
 public:
  [[nodiscard]] const std::vector<GradientBucket>& lay_out(
      const std::vector<GradientBucket>& buckets);
  /// The float32 bucket with the values of `bucket`. Valid until the next `lay_out`.
  [[nodiscard]] const GradientBucket& take(const GradientBucket& bucket);
  /// A request that copies the values back to `bucket` when `exchanged` is done.
  [[nodiscard]] std::unique_ptr<Request> give_back(Communicator& ranks,
                                                   const GradientBucket& bucket,
                                                   std::unique_ptr<Request> exchanged) const;

 private:
  std::vector<GradientBucket> wide_;
};

}  // namespace d5::detail
