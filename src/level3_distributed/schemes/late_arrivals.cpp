// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/late_arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

/// A collective: its group and its number in the group.
using Call = std::pair<std::string, std::int64_t>;

std::optional<Call> call_of(const TraceRecord& record) {
  if (record.kind != TraceRecord::Kind::span || record.level != "communication") return {};
  Call call{"", -1};
  for (const auto& argument : record.arguments) {
    if (argument.name == "group") call.first = std::get<std::string>(argument.value);
    if (argument.name == "number") call.second = std::get<std::int64_t>(argument.value);
  }
  if (call.second < 0) return {};
  return call;
}

struct LastRank {
  int rank = 0;
  std::int64_t asked_ns = 0;
};

}  // namespace

std::vector<LateArrival> late_arrivals(const Timeline& timeline) {
  std::map<Call, LastRank> last;
  for (const TraceRecord& record : timeline.records) {
    const auto call = call_of(record);
    if (!call || record.name == "wait") continue;
    const auto [place, fresh] = last.try_emplace(*call, LastRank{record.rank, record.begin_ns});
    if (!fresh && record.begin_ns > place->second.asked_ns) {
      place->second = {record.rank, record.begin_ns};
    }
  }
  std::map<std::pair<int, int>, LateArrival> pairs;
  for (const TraceRecord& record : timeline.records) {
    const auto call = call_of(record);
    if (!call) continue;
    const LastRank& late = last.at(*call);
    const std::int64_t waited = std::min(record.end_ns, late.asked_ns) - record.begin_ns;
    if (late.rank == record.rank || waited <= 0) continue;
    LateArrival& pair = pairs[{late.rank, record.rank}];
    pair.late = late.rank;
    pair.waiting = record.rank;
    ++pair.calls;
    pair.seconds += static_cast<double>(waited) * 1e-9;
  }
  std::vector<LateArrival> all;
  for (const auto& [ranks, pair] : pairs) all.push_back(pair);
  std::ranges::sort(all, std::ranges::greater{}, &LateArrival::seconds);
  return all;
}

TextTable late_arrivals_table(const std::vector<LateArrival>& arrivals) {
  TextTable table({"waited", "for", "calls", "time"});
  for (const LateArrival& one : arrivals) {
    table.add({fmt::format("rank {}", one.waiting), fmt::format("rank {}", one.late),
               fmt::format("{}", one.calls), with_prefix(one.seconds, "s")});
  }
  return table;
}

}  // namespace d5
