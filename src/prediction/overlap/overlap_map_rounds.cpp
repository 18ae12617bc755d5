// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap_map_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/files/scratch_folder.hpp"
#include "d5/core/error.hpp"
#include "d5/core/student.hpp"
#include "d5/level3_distributed/rank_launch.hpp"
#include "prediction/overlap/time_shares.hpp"

namespace d5 {
namespace {

/// What the first rank to fail says of it; all that was said where none does.
std::string said_error(const std::string& output) {
  constexpr std::string_view kBefore = "d5: error: ";
  const std::size_t at = output.find(kBefore);
  if (at == std::string::npos) return printable_message(output);
  const std::size_t begin = at + kBefore.size();
  return printable_message(output.substr(begin, output.find('\n', begin) - begin));
}

}  // namespace

std::vector<Measurement> overlap_map_in_rounds(const OverlapRounds& options,
                                               const MeasuredRound& measured) {
  if (options.rounds < 1) {
    throw ValueError(fmt::format("overlap map: {} rounds; expected 1 or more", options.rounds));
  }
  constexpr double kShortest = 1e-3;  // of a round that must be; s
  detail::TimeShares shares(options.most_seconds, static_cast<std::size_t>(options.rounds));
  std::vector<Measurement> records;
  std::string ended;
  int done = 0;
  for (; done < options.rounds; ++done) {
    const double share = shares.next();
    if (done > 0 && options.interrupt.due()) ended = options.interrupt.reason();
    if (share <= 0 && done >= OverlapRounds::kFewest) ended = "its time was over";
    if (!ended.empty()) break;
    if (options.say) options.say(fmt::format("round {} of {}", done + 1, options.rounds));
    std::vector<Measurement> round;
    try {
      round = measured(done + 1, std::max(kShortest, share));
    } catch (const Interrupted&) {
      if (done == 0) throw;
      ended = "interrupted";
      break;
    }
    for (Measurement& record : round) {
      if (options.rounds > 1) record.conditions["round"] = std::to_string(done + 1);
      records.push_back(std::move(record));
    }
  }
  if (done == options.rounds) return records;
  for (Measurement& record : records) {
    mistrust(record, fmt::format("{} of {} rounds: {}", done, options.rounds, ended));
  }
  return records;
}

Results launched_map_round(int ranks, std::vector<std::string> words, const Interrupt& interrupt) {
  constexpr int kRefused = 2;
  const detail::ScratchFolder folder("overlap-map");
  const std::string file = folder / "round.json";
  words.insert(words.end(), {"--round-file", file});
  const LaunchedRun done = run_ranks(ranks, words, interrupt);
  if (done.status == 0) return read_results(file);
  if (done.status == kRefused) throw ValueError(said_error(done.output));
  throw CommunicationError(fmt::format("overlap map: a round on {} ranks ended with {}: {}", ranks,
                                       done.status, said_error(done.output)));
}

Estimate slowdown_of_rounds(std::span<const std::vector<double>> rounds) {
  if (rounds.size() == 1) return estimate(rounds.front());
  std::vector<double> logarithms;
  for (const auto& pairs : rounds) logarithms.push_back(std::log(summarise(pairs).median));
  Estimate mean = mean_with_interval(logarithms);
  mean.value = std::exp(mean.value);
  mean.interval = {std::exp(mean.interval.low), std::exp(mean.interval.high)};
  return mean;
}

}  // namespace d5
