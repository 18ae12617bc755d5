// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {

/// How often a map is measured, by ranks that are started anew each time: what differs from one set
/// of processes to the next, such as where their memory and the machine's virtual cores lie, no
/// number of pairs within one of them shows.
struct OverlapRounds {
  int rounds = 6;
  /// For all. Once it is over no other round begins, but for `kFewest`, and what there is is
  /// mistrusted. 0: as long as it takes.
  double most_seconds = 0;
  static constexpr int kFewest = 3;  ///< with two Student's factor is 12.7
  Interrupt interrupt = {};          ///< asked between rounds; what there is is mistrusted
  std::function<void(const std::string&)> say = {};
};

/// The records of one round, as `overlap_map` returns them. Called with its number, from 1 on, and
/// its share of the time that is left, infinite where there is no bound; s.
using MeasuredRound = std::function<std::vector<Measurement>(int round, double most_seconds)>;

/// The records of all rounds, with a condition "round" where there are several.
/// Throws: ValueError for no round; what `measured` throws, but for `Interrupted` behind the first.
[[nodiscard]] std::vector<Measurement> overlap_map_in_rounds(const OverlapRounds& options,
                                                             const MeasuredRound& measured);

/// What `words` and "--round-file FILE" behind them write there, on so many ranks of this machine.
/// Throws: ValueError for words that are refused (status 2), CommunicationError where it ends
/// otherwise, Interrupted; as `run_ranks`, `read_results`.
[[nodiscard]] Results launched_map_round(int ranks, std::vector<std::string> words,
                                         const Interrupt& interrupt = {});

}  // namespace d5
