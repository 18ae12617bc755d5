// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/own_samples.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

std::string_view bytes_of(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
}

/// Digest of the batch's numbers; `alike` stays true if each field has the same sample throughout.
std::uint64_t digest_of(const Batch& batch, bool& alike) {
  std::uint64_t digest = 0;
  for (const auto& [field, value] : batch.values) {
    if (!value.is_tensor() || value.tensor().dtype() == DType::string) continue;
    const std::string_view bytes = bytes_of(value.tensor());
    digest = digest * 0x9E3779B97F4A7C15U + std::hash<std::string_view>()(bytes);
    const std::size_t sample = bytes.size() / std::size_t(batch.size);
    alike =
        alike && batch.size > 1 && bytes.substr(sample) == bytes.substr(0, bytes.size() - sample);
  }
  return digest;
}

}  // namespace

void expect_own_samples(RankAgreement& ranks, const Batch& batch) {
  if (ranks.ranks() == ranks.ranks_of_model() || batch.global_size > 0) return;
  bool alike = true;
  const std::uint64_t digest = batch.size > 0 ? digest_of(batch, alike) : 0;
  // Parts that are summed without rounding on thousands of ranks.
  constexpr std::uint64_t kPart = (std::uint64_t{1} << 32) - 1;
  const std::array<double, 2> mine{double(digest & kPart), double(digest >> 32)};
  std::array<double, 2> all = mine;
  ranks.sum(all);
  const auto n = double(ranks.ranks());
  const bool same = batch.size > 0 && !alike && all[0] == n * mine[0] && all[1] == n * mine[1];
  if (ranks.any(!same)) return;
  throw ValueError(fmt::format(
      "trainer: all {} ranks have the same first batch of {} samples, expected a part of each "
      "batch on each rank; call the sampler's take_part(rank, ranks) before training, make it by "
      "distributed_sampler, or give each rank samples of its own",
      ranks.ranks(), batch.size));
}

}  // namespace d5::detail
