// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/parameter_shards.hpp"

#include <fmt/format.h>

#include <limits>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/exchange/shards.hpp"

namespace d5::detail {
namespace {

std::size_t offset_in(const Tensor& arena, const Tensor& part) {
  return std::size_t(static_cast<const std::byte*>(part.raw()) -
                     static_cast<const std::byte*>(arena.raw()));
}

/// From the first byte of `first` to the last one of `last`.
Tensor span_of(const Tensor& arena, const Tensor& first, const Tensor& last) {
  const std::size_t begin = offset_in(arena, first);
  const std::size_t bytes = offset_in(arena, last) + last.bytes() - begin;
  const auto elements = std::int64_t(bytes / size_of(arena.dtype()));
  return arena.view(begin, {arena.dtype(), {elements}, Layout::row_major, arena.device()});
}

}  // namespace

std::vector<ParameterShard> cut_into_parameter_shards(Network& network, int shards) {
  const auto& parameters = network.parameters();
  const Tensor values = network.parameter_arena(), gradients = network.gradient_arena();
  const auto whole =
      cut_into_buckets(parameters, {.least = std::numeric_limits<std::size_t>::max()});
  if (whole.size() != 1 || values.elements() != gradients.elements()) {
    throw Unsupported(fmt::format(
        "network '{}': its gradients do not lie in memory as its parameters do, which servers "
        "need; choose consistent_decentralized",
        printable(network.name())));
  }
  std::vector<ParameterShard> result;
  const auto shares = share_parameters(parameters, whole, shards);
  for (const ParameterRange& range : shares[0]) {
    ParameterShard& shard = result.emplace_back();
    shard.parameters = range;
    if (range.begin == range.end) {
      shard.values = values.slice(0, 0);
      shard.gradients = gradients.slice(0, 0);
      continue;
    }
    const Parameter &first = parameters[range.begin], &last = parameters[range.end - 1];
    shard.values = span_of(values, first.value, last.value);
    shard.gradients = span_of(gradients, first.gradient, last.gradient);
  }
  return result;
}

}  // namespace d5::detail
