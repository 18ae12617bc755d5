// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/profile_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "prediction/profile/launch_samples.hpp"

namespace d5 {
namespace {

using Times = TrainingProfile::Times;
using Piece = TrainingProfile::Piece;
using Launches = std::span<const TrainingProfile>;

std::string words_of(const std::map<std::string, std::string>& machine) {
  std::string words;
  for (const auto& [word, value] : machine) words += fmt::format("{}={} ", word, value);
  return words;
}

std::string words_of(const Piece& piece) {
  return fmt::format("{} '{}'", piece.kind, printable(piece.name));
}

[[noreturn]] void refuse(std::size_t launch, const std::string& given,
                         const std::string& expected) {
  throw ValueError(
      fmt::format("profile of several launches: launch {} has {}, the first {}; profile again, the "
                  "same training in each",
                  launch + 1, given, expected));
}

void expect_same_nodes(const TrainingProfile& first, const TrainingProfile& other,
                       std::size_t launch) {
  if (first.pieces.size() != other.pieces.size()) {
    refuse(launch, fmt::format("{} pieces", other.pieces.size()),
           fmt::format("{}", first.pieces.size()));
  }
  for (std::size_t i = 0; i < first.pieces.size(); ++i) {
    const Piece &here = first.pieces[i], &there = other.pieces[i];
    if (here.name != there.name || here.kind != there.kind) {
      refuse(launch, fmt::format("{} as piece {}", words_of(there), i + 1), words_of(here));
    }
    if (here.final_parameters != there.final_parameters) {
      refuse(launch, fmt::format("other gradients final after {}", words_of(there)), "its own");
    }
  }
  const bool alike = std::ranges::equal(
      first.parameters, other.parameters,
      [](const auto& a, const auto& b) { return a.name == b.name && a.bytes == b.bytes; });
  if (!alike) refuse(launch, "other parameters, or in another order", "its own");
}

void expect_same_training(const TrainingProfile& first, const TrainingProfile& other,
                          std::size_t launch) {
  const auto same = [&](const char* what, const std::string& here, const std::string& there) {
    if (here == there) return;
    refuse(launch, fmt::format("{} '{}'", what, printable(there)),
           fmt::format("'{}'", printable(here)));
  };
  same("model", first.model, other.model);
  same("digest", first.digest, other.digest);
  same("framework", first.framework, other.framework);
  same("device", first.device, other.device);
  same("optimizer", first.optimizer, other.optimizer);
  same("threads", std::to_string(first.threads), std::to_string(other.threads));
  same("copies", std::to_string(first.copies), std::to_string(other.copies));
  same("machine", words_of(first.machine), words_of(other.machine));
  expect_same_nodes(first, other, launch);
}

/// The times of a batch size in each launch; empty if one launch lacks it.
std::vector<const Times*> times_of(Launches launches, std::int64_t batch) {
  std::vector<const Times*> times;
  for (const TrainingProfile& launch : launches) {
    const auto found = std::ranges::find(launch.batches, batch, &Times::batch);
    if (found == launch.batches.end()) return {};
    times.push_back(&*found);
  }
  return times;
}

/// Appends the `count` samples of one copy in one launch.
void append_copy(std::vector<double>& to, const std::vector<double>& from, std::size_t copy,
                 std::size_t copies, std::size_t count) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(copy * (from.size() / copies));
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
}

Times joined_times(const std::vector<const Times*>& launches, std::size_t copies) {
  const bool has_unobserved =
      std::ranges::none_of(launches, [](const Times* times) { return times->unobserved.empty(); });
  Times all{.batch = launches.front()->batch};
  const std::size_t pieces = launches.front()->seconds.size();
  all.seconds.resize(pieces), all.gaps.resize(pieces);
  for (const Times* times : launches) {
    const std::size_t steps = has_unobserved
                                  ? std::min(times->steps.size(), times->unobserved.size())
                                  : times->steps.size();
    all.launches.push_back(static_cast<std::int64_t>(steps / copies));
    all.recording += times->recording / static_cast<double>(launches.size());
  }
  for (std::size_t copy = 0; copy < copies; ++copy) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Times& from = *launches[i];
      const auto count = static_cast<std::size_t>(all.launches[i]);
      append_copy(all.steps, from.steps, copy, copies, count);
      if (has_unobserved) append_copy(all.unobserved, from.unobserved, copy, copies, count);
      for (std::size_t piece = 0; piece < pieces; ++piece) {
        append_copy(all.seconds[piece], from.seconds[piece], copy, copies, count);
        append_copy(all.gaps[piece], from.gaps[piece], copy, copies, count);
      }
    }
  }
  return all;
}

RankRates median_rates(Launches launches) {
  RankRates rates = launches.front().rates;
  for (double RankRates::* rate :
       {&RankRates::reduce_bandwidth, &RankRates::scale_bandwidth, &RankRates::copy_bandwidth,
        &RankRates::shared_bandwidth, &RankRates::shared_reduce_bandwidth, &RankRates::alone}) {
    std::vector<double> all;
    for (const TrainingProfile& launch : launches) all.push_back(launch.rates.*rate);
    rates.*rate = summarise(all).median;
  }
  return rates;
}

}  // namespace

TrainingProfile joined_launches(Launches launches) {
  if (launches.empty()) throw ValueError("profile of several launches: none; expected 1 or more");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    check(launches[i]);
    expect_same_training(launches.front(), launches[i], i);
    for (const Times& times : launches[i].batches) {
      if (!times.launches.empty()) refuse(i, "several launches already", "is to be one");
    }
  }
  TrainingProfile all = launches.front();
  if (launches.size() == 1) return all;
  all.rates = median_rates(launches);
  all.batches.clear();
  for (const Times& times : launches.front().batches) {
    const auto of_all = times_of(launches, times.batch);
    if (of_all.empty()) continue;
    all.batches.push_back(joined_times(of_all, static_cast<std::size_t>(all.copies)));
  }
  if (all.batches.empty()) {
    throw ValueError(
        "profile of several launches: they have no batch size in common; profile again");
  }
  std::set<std::string> reasons(all.mistrusted.begin(), all.mistrusted.end());
  for (const TrainingProfile& launch : launches) {
    for (const std::string& reason : launch.mistrusted) {
      if (reasons.insert(reason).second) all.mistrusted.push_back(reason);
    }
  }
  detail::judge_steps(all);
  check(all);
  return all;
}

}  // namespace d5
