// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/gather_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/results.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

/// How bad a status is: what any rank says of a record holds for all.
int severity(Status status) {
  switch (status) {
    case Status::passed:
      return 0;
    case Status::mistrusted:
      return 1;
    case Status::skipped:
      return 2;
    case Status::unsupported:
      return 3;
    case Status::failed:
      return 4;
  }
  return 4;
}

/// One metric's records, rank by rank.
using Row = std::vector<Measurement>;

bool same_number_of_samples(const Row& row) {
  return std::ranges::all_of(
      row, [&](const auto& m) { return m.samples.size() == row.front().samples.size(); });
}

Measurement joined(const Row& row) {
  Measurement result = row.front();
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    double most = row.front().samples[i], least = most, sum = 0;
    for (const auto& m : row) {
      most = std::max(most, m.samples[i]);
      least = std::min(least, m.samples[i]);
      sum += m.samples[i];
    }
    result.samples[i] = result.over_ranks == OverRanks::maximum ? most
                        : result.over_ranks == OverRanks::sum   ? sum
                        : least == most                         ? most  // to the bit
                                                                : sum / double(row.size());
  }
  for (std::size_t rank = 0; rank < row.size(); ++rank) {
    if (severity(row[rank].status) <= severity(result.status)) continue;
    result.status = row[rank].status;
    result.reason = fmt::format("rank {}: {}", rank, row[rank].reason);
  }
  return result;
}

void check_same_metric(const Row& row) {
  for (const auto& m : row) {
    if (m.metric == row.front().metric) continue;
    throw FormatError(fmt::format("gather_records: one rank's record is of '{}', another's of '{}'",
                                  printable(row.front().metric), printable(m.metric)));
  }
}

}  // namespace

std::vector<Measurement> gather_records(std::vector<Measurement> mine, Communicator& ranks) {
  std::vector<std::vector<Measurement>> all;
  for (const auto& text : detail::gather_texts(ranks, to_json(Results{{}, mine}))) {
    all.push_back(results_from_json(text, "records of a rank").measurements);
    if (all.back().size() != mine.size()) {
      throw FormatError(fmt::format("gather_records: one rank has {} records, another {}",
                                    mine.size(), all.back().size()));
    }
  }
  std::vector<Measurement> results;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    Row row;
    for (auto& of_rank : all) row.push_back(std::move(of_rank[i]));
    check_same_metric(row);
    if (row.front().over_ranks != OverRanks::apart && same_number_of_samples(row)) {
      results.push_back(joined(row));
      continue;
    }
    for (std::size_t rank = 0; rank < row.size(); ++rank) {
      row[rank].conditions["rank"] = fmt::format("{}", rank);
      results.push_back(std::move(row[rank]));
    }
  }
  return results;
}

}  // namespace d5
