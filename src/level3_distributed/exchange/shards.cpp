// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/shards.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Element of `whole` at which `part` begins.
std::int64_t place_in(const Tensor& whole, const Tensor& part) {
  const auto bytes =
      static_cast<const std::byte*>(part.raw()) - static_cast<const std::byte*>(whole.raw());
  return bytes / static_cast<std::int64_t>(size_of(whole.dtype()));
}

/// The parameter values of a bucket, with the same layout as its gradients.
Tensor values_of(const std::vector<Parameter>& parameters, const GradientBucket& bucket) {
  const Tensor& first = parameters[bucket.begin].value;
  const Tensor& last = parameters[bucket.end - 1].value;
  const Tensor values = Tensor::borrow({first.dtype(), {bucket.data.elements()}},
                                       const_cast<void*>(first.raw()), first.owner());
  const bool alike =
      first.dtype() == bucket.data.dtype() &&
      place_in(values, last) == place_in(bucket.data, parameters[bucket.end - 1].gradient);
  if (alike) return values;
  throw Unsupported(fmt::format(
      "sharded: the values of '{}' to '{}' do not lie in memory as their gradients do; choose "
      "another exchange",
      printable(parameters[bucket.begin].name), printable(parameters[bucket.end - 1].name)));
}

}  // namespace

std::vector<std::vector<ParameterRange>> share_parameters(
    const std::vector<Parameter>& parameters, const std::vector<GradientBucket>& buckets,
    int ranks) {
  std::vector<std::vector<ParameterRange>> shares;
  std::vector<double> bytes(static_cast<std::size_t>(ranks));  // by rank, so far
  double all = 0;
  for (const GradientBucket& bucket : buckets) {
    all += static_cast<double>(bucket.data.bytes());
    const double fair = all / ranks;
    auto& of_ranks = shares.emplace_back();
    std::size_t next = bucket.begin;
    for (int r = 0; r < ranks; ++r) {
      double& mine = bytes[static_cast<std::size_t>(r)];
      ParameterRange& own = of_ranks.emplace_back(ParameterRange{next, next});
      for (; next < bucket.end; own.end = ++next) {
        const auto size = static_cast<double>(parameters[next].gradient.bytes());
        // A tensor belongs to the rank of its middle; the last rank takes the rest.
        if (r + 1 < ranks && mine + size / 2 > fair) break;
        mine += size;
      }
    }
  }
  return shares;
}

std::vector<BucketShards> cut_into_shards(const std::vector<Parameter>& parameters,
                                          const std::vector<GradientBucket>& buckets,
                                          Communicator& ranks) {
  const auto shares = share_parameters(parameters, buckets, ranks.size());
  std::vector<BucketShards> all;
  for (const GradientBucket& bucket : buckets) {
    BucketShards& one = all.emplace_back();
    one.values = values_of(parameters, bucket);
    const auto begin_of = [&](std::size_t parameter) {
      return parameter == bucket.end ? bucket.data.elements()
                                     : place_in(bucket.data, parameters[parameter].gradient);
    };
    std::int64_t own_begin = 0;
    for (int r = 0; r < ranks.size(); ++r) {
      const ParameterRange& range = shares[bucket.index][static_cast<std::size_t>(r)];
      // A shard without tensors is empty, wherever it begins.
      const std::int64_t begin = begin_of(range.begin), end = begin_of(range.end);
      one.counts.push_back(end - begin);
      if (r != ranks.rank()) continue;
      one.own = range;
      own_begin = begin;
    }
    const std::int64_t own_end = own_begin + one.counts[static_cast<std::size_t>(ranks.rank())];
    one.own_gradients = bucket.data.slice(own_begin, own_end);
    one.own_values = one.values.slice(own_begin, own_end);
    one.mine = ranks.scratch(one.own_gradients.desc(), bucket.data);
  }
  return all;
}

}  // namespace d5::detail
