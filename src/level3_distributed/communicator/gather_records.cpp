// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/gather_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/results/inherited_doubt.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

/// Severity of a status: the worst of any rank holds for all.
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

struct OfRank {
  int rank;
  Measurement record;
};
/// One metric's records, rank by rank.
using Row = std::vector<OfRank>;

bool same_number_of_samples(const Row& row) {
  return std::ranges::all_of(row, [size = row.front().record.samples.size()](const OfRank& of) {
    return of.record.samples.size() == size;
  });
}

Measurement joined(const Row& row) {
  Measurement result = row.front().record;
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    double most = result.samples[i], least = most, sum = 0;
    for (const auto& [rank, m] : row) {
      most = std::max(most, m.samples[i]);
      least = std::min(least, m.samples[i]);
      sum += m.samples[i];
    }
    result.samples[i] = result.over_ranks == OverRanks::maximum ? most
                        : result.over_ranks == OverRanks::sum   ? sum
                        : least == most                         ? most  // to the bit
                                                                : sum / double(row.size());
  }
  for (const auto& [rank, m] : row) {
    if (severity(m.status) > severity(result.status)) {
      result.status = m.status;
      result.reason = fmt::format("rank {}: {}", rank, m.reason);
    } else {
      detail::inherit_doubt(result, m, fmt::format("rank {}", rank));
    }
  }
  return result;
}

void check_same_metric(const Row& row) {
  const std::string& metric = row.front().record.metric;
  for (const auto& of : row) {
    if (of.record.metric == metric) continue;
    throw FormatError(fmt::format("gather_records: one rank's record is of '{}', another's of '{}'",
                                  printable(metric), printable(of.record.metric)));
  }
}

}  // namespace

std::vector<Measurement> gather_records(std::vector<Measurement> mine, Communicator& ranks,
                                        bool trained) {
  std::vector<std::vector<Measurement>> all;
  const auto who_trained = detail::gather_texts(ranks, trained ? "trained" : "");
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
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      Measurement& record = all[rank][i];
      if (who_trained[rank].empty() && record.samples.empty()) continue;
      row.push_back({static_cast<int>(rank), std::move(record)});
    }
    if (row.empty()) continue;
    check_same_metric(row);
    if (row.front().record.over_ranks != OverRanks::apart && same_number_of_samples(row)) {
      results.push_back(joined(row));
      continue;
    }
    for (auto& [rank, record] : row) {
      record.conditions["rank"] = identity(rank);
      results.push_back(std::move(record));
    }
  }
  return results;
}

}  // namespace d5
