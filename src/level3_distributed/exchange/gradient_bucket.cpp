// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

#include "d5/core/tensor/arena.hpp"

namespace d5 {
namespace {

const std::byte* begin_of(const Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.raw());
}

/// Whether `next` follows `last` in the same arena, with only padding in between.
bool follows(const Tensor& last, const Tensor& next) {
  return last.dtype() == next.dtype() && last.shares_storage_with(next) &&
         begin_of(next) == begin_of(last) + Arena::aligned(last.bytes());
}

/// One tensor over the storage of `first` up to the end of `last`.
Tensor joined(const Tensor& first, const Tensor& last) {
  const auto bytes = static_cast<std::size_t>(begin_of(last) - begin_of(first)) + last.bytes();
  const auto elements = static_cast<std::int64_t>(bytes / size_of(first.dtype()));
  return Tensor::borrow({first.dtype(), {elements}}, const_cast<void*>(first.raw()), first.owner());
}

}  // namespace

std::vector<GradientBucket> cut_into_buckets(const std::vector<Parameter>& parameters,
                                             const BucketSizes& sizes) {
  std::size_t after = 0;  // bytes of gradients not in a bucket yet
  for (const Parameter& parameter : parameters) after += parameter.gradient.bytes();
  const std::size_t first = sizes.first > 0 ? sizes.first : sizes.least;
  std::vector<GradientBucket> buckets;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& gradient = parameters[i].gradient;
    const bool may_follow = i > 0 && follows(parameters[i - 1].gradient, gradient);
    if (may_follow) {
      GradientBucket& open = buckets.back();
      const std::size_t least = buckets.size() == 1 ? first : sizes.least;
      // The rest goes to the last bucket, if that has its own size.
      const bool leaves_last = sizes.last > 0 && after <= sizes.last && i > 0 &&
                               after + parameters[i - 1].gradient.bytes() > sizes.last;
      if (open.data.bytes() < least && !leaves_last) {
        open.end = i + 1;
        open.data = joined(parameters[open.begin].gradient, gradient);
        after -= gradient.bytes();
        continue;
      }
    }
    buckets.push_back({buckets.size(), i, i + 1, gradient.reshaped({gradient.elements()})});
    after -= gradient.bytes();
  }
  return buckets;
}

}  // namespace d5
