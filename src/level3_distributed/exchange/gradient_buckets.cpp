// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/gradient_buckets.hpp"

#include "d5/core/arena.hpp"

namespace d5::detail {
namespace {

const std::byte* begin_of(const Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.raw());
}

/// Whether `next` follows `last` in one arena, with nothing but padding in between.
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

std::vector<GradientBucket> make_gradient_buckets(const std::vector<Parameter>& parameters,
                                                  std::size_t least_bytes) {
  std::vector<GradientBucket> buckets;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& gradient = parameters[i].gradient;
    if (!buckets.empty()) {
      GradientBucket& last = buckets.back();
      if (last.data.bytes() < least_bytes && follows(parameters[i - 1].gradient, gradient)) {
        last.end = i + 1;
        last.data = joined(parameters[last.begin].gradient, gradient);
        continue;
      }
    }
    buckets.push_back({i, i + 1, gradient.reshaped({gradient.elements()})});
  }
  return buckets;
}

}  // namespace d5::detail
