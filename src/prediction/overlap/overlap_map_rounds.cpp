// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "level3_distributed/launching/failed_launch.hpp"
#include "prediction/overlap/time_shares.hpp"

namespace d5 {

std::vector<Measurement> overlap_map_in_rounds(const OverlapRounds& options,
                                               const MeasuredRound& measured) {
  if (options.rounds < 1) {
    throw ValueError(fmt::format("overlap map: {} rounds; expected 1 or more", options.rounds));
  }
  constexpr double kShortest = 1e-3;  // minimum time of a required round; s
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
      if (options.rounds > 1) record.conditions["round"] = setting(done + 1);
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
  const detail::ScratchFolder folder("overlap-map");
  const std::string file = folder / "round.json";
  words.insert(words.end(), {"--round-file", file});
  const LaunchedRun done = run_ranks(ranks, words, interrupt);
  if (done.status == 0) return read_results(file);
  detail::throw_failed(done, "overlap map: a round", ranks);
}

}  // namespace d5
