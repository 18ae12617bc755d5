// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/own_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

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

/// Whether this rank's number is that of every rank, for each of `numbers`.
std::vector<bool> equal_on_all(RankAgreement& ranks, const std::vector<std::uint64_t>& numbers) {
  // Parts that are summed without rounding on thousands of ranks.
  constexpr std::uint64_t kPart = (std::uint64_t{1} << 32) - 1;
  std::vector<double> mine;
  for (const std::uint64_t number : numbers) {
    mine.insert(mine.end(), {double(number & kPart), double(number >> 32)});
  }
  std::vector<double> all = mine;
  ranks.sum(all);
  const auto n = double(ranks.ranks());
  std::vector<bool> equal;
  for (std::size_t i = 0; i < mine.size(); i += 2) {
    equal.push_back(all[i] == n * mine[i] && all[i + 1] == n * mine[i + 1]);
  }
  return equal;
}

}  // namespace

void expect_equal_numbers(RankAgreement& ranks, const HyperParameters& numbers) {
  if (ranks.ranks() == 1) return;
  std::vector<std::uint64_t> values;
  for (std::size_t group = 0; group < numbers.groups(); ++group) {
    for (const auto& name : numbers.names()) {
      values.push_back(std::bit_cast<std::uint64_t>(numbers.initial(name, group)));
    }
  }
  const std::vector<bool> equal = equal_on_all(ranks, values);
  const auto other = std::ranges::find(equal, false);
  if (!ranks.any(other != equal.end())) return;
  if (other == equal.end()) {
    throw ValueError(
        "trainer: other ranks have other hyper-parameters than this one, expected the "
        "same on every rank");
  }
  const auto names = numbers.names();
  const auto place = std::size_t(other - equal.begin());
  const std::string& name = names[place % names.size()];
  throw ValueError(
      fmt::format("trainer: {} is {} on this rank and another number on others; give "
                  "every rank the same optimizer",
                  name, numbers.initial(name, place / names.size())));
}

void expect_own_samples(RankAgreement& ranks, const Batch& batch) {
  if (ranks.ranks() == ranks.ranks_of_model() || batch.global_size > 0) return;
  bool alike = true;
  const std::uint64_t digest = batch.size > 0 ? digest_of(batch, alike) : 0;
  const bool equal = equal_on_all(ranks, {digest}).front();
  const bool same = batch.size > 0 && !alike && equal;
  if (ranks.any(!same)) return;
  throw ValueError(fmt::format(
      "trainer: all {} ranks have the same first batch of {} samples, expected a part of each "
      "batch on each rank; call the sampler's take_part(rank, ranks) before training, make it by "
      "distributed_sampler, or give each rank samples of its own",
      ranks.ranks(), batch.size));
}

}  // namespace d5::detail
