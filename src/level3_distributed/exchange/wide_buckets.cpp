// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/wide_buckets.hpp"

#include <algorithm>
#include <utility>

#include "d5/level3_distributed/communicator/communication_schedule.hpp"

namespace d5::detail {
namespace {

using SmallTypes = Types<Float16, BFloat16>;

bool is_small(const Tensor& tensor) {
  return tensor.dtype() == DType::float16 || tensor.dtype() == DType::bfloat16;
}

CommunicationSchedule narrowed(std::unique_ptr<Request> exchanged, Tensor wide, Tensor narrow) {
  co_await exchanged;
  dispatch(SmallTypes{}, narrow.dtype(), "a bucket", [&]<class T>() {
    std::ranges::transform(wide.span<float>(), narrow.data<T>(), [](float x) { return T(x); });
  });
}

}  // namespace

const std::vector<GradientBucket>& WideBuckets::lay_out(
    const std::vector<GradientBucket>& buckets) {
  wide_ = buckets;
  for (GradientBucket& bucket : wide_) {
    if (is_small(bucket.data)) bucket.data = Tensor::zeros(DType::float32, bucket.data.shape());
  }
  return wide_;
}

const GradientBucket& WideBuckets::take(const GradientBucket& bucket) {
  GradientBucket& wide = wide_[bucket.index];
  if (is_small(bucket.data)) {
    dispatch(SmallTypes{}, bucket.data.dtype(), "a bucket", [&]<class T>() {
      std::ranges::transform(bucket.data.span<T>(), wide.data.data<float>(),
                             [](T x) { return float(x); });
    });
  }
  return wide;
}

std::unique_ptr<Request> WideBuckets::give_back(Communicator& ranks, const GradientBucket& bucket,
                                                std::unique_ptr<Request> exchanged) const {
  if (!is_small(bucket.data)) return exchanged;
  return run_schedule(ranks, narrowed(std::move(exchanged), wide_[bucket.index].data, bucket.data));
}

}  // namespace d5::detail
