// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/rank_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

namespace d5 {
namespace {

/// Checksum of a tensor's bytes.
std::int64_t checksum(const Tensor& tensor) {
  const char* bytes = static_cast<const char*>(tensor.raw());
  std::uint64_t sum = tensor.bytes();
  for (std::size_t i = 0; i < tensor.bytes(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, std::min(sizeof(word), tensor.bytes() - i));
    sum = std::rotl((sum ^ word) * 0x9E3779B97F4A7C15u, 29);
  }
  return static_cast<std::int64_t>(sum);
}

/// All-gathers `mine`; row r is rank r's.
std::vector<std::vector<std::int64_t>> gathered(const std::vector<std::int64_t>& mine,
                                                Communicator& ranks) {
  const auto width = static_cast<std::int64_t>(mine.size());
  Tensor all = Tensor::empty(DType::int64, {ranks.size(), width});
  ranks.all_gather(Tensor::vector(mine), all);
  std::vector<std::vector<std::int64_t>> rows;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto* row = all.data<std::int64_t>() + r * width;
    rows.emplace_back(row, row + width);
  }
  return rows;
}

/// The ranks whose number is not the most frequent one; on a tie the lowest rank's counts as such.
std::vector<int> minority(const std::vector<std::vector<std::int64_t>>& rows, std::size_t column) {
  std::map<std::int64_t, int> votes;
  for (const auto& row : rows) ++votes[row[column]];
  std::int64_t usual = rows.front()[column];
  for (const auto& row : rows) {
    if (votes[row[column]] > votes[usual]) usual = row[column];
  }
  std::vector<int> others;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r][column] != usual) others.push_back(static_cast<int>(r));
  }
  return others;
}

}  // namespace

void expect_equal_parameters(Network& network, Communicator& ranks, const std::string& when) {
  const auto& parameters = network.parameters();
  std::vector<std::int64_t> sums;
  for (const Parameter& parameter : parameters) sums.push_back(checksum(parameter.value));
  const Tensor all = Tensor::vector(sums);
  const auto totals = gathered({checksum(all), static_cast<std::int64_t>(sums.size())}, ranks);
  if (std::ranges::all_of(totals, [&](const auto& row) { return row == totals.front(); })) return;
  if (const auto others = minority(totals, 1); !others.empty()) {
    throw CommunicationError(fmt::format(
        "{}: the ranks have networks with different numbers of parameters: here {}, at "
        "rank {} {}; train the same recipe on all",
        when, sums.size(), others.front(), totals[static_cast<std::size_t>(others.front())][1]));
  }
  const auto rows = gathered(sums, ranks);
  std::string first;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto others = minority(rows, i);
    if (others.empty()) continue;
    if (differing++ > 0) continue;
    std::vector<int> usual;
    for (int r = 0; r < ranks.size(); ++r) {
      if (std::ranges::find(others, r) == others.end()) usual.push_back(r);
    }
    first = fmt::format("'{}': rank {} against rank {}", printable(parameters[i].name),
                        fmt::join(others, ", "), fmt::join(usual, ", "));
  }
  throw CommunicationError(
      fmt::format("{}: the ranks' parameters differ in {} of {} tensors, the first {}", when,
                  differing, sums.size(), first));
}

RankCheck::RankCheck(std::shared_ptr<Communicator> ranks, std::int64_t every)
    : ranks_(std::move(ranks)), every_(every) {
  if (every_ >= 1) return;
  throw ValueError(
      fmt::format("RankCheck: a comparison every {} steps; expected 1 or more", every_));
}

void RankCheck::before_training(Trainer& trainer) {
  auto* scheme = dynamic_cast<DistributedOptimizer*>(&trainer.optimizer());
  if (!scheme) return;
  if (!scheme->is_consistent()) {
    throw Unsupported(
        "RankCheck: under this scheme the ranks' parameters differ between steps, so they cannot "
        "be compared; train without it");
  }
  ranks_ = scheme->workers().shared_from_this();
}

void RankCheck::after_batch(Trainer& trainer, const Batch&, const ValueMap&) {
  const std::int64_t step = trainer.step();
  if (ranks_->size() == 1 || step % every_ != 0) return;
  expect_equal_parameters(trainer.optimizer().executor().network(), *ranks_,
                          fmt::format("step {}", step));
}

}  // namespace d5
