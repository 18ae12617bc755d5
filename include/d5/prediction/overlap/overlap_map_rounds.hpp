// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {

/// Repeats a map in several rounds of newly started ranks. Rounds show the variation between sets
/// of processes (placement of memory and virtual cores), which pairs within one set cannot show.
struct OverlapRounds {
  int rounds = 6;
  /// Time limit for all rounds. After it no round begins, except the first `kFewest`, and the
  /// result is marked as mistrusted. 0: no limit.
  double most_seconds = 0;
  static constexpr int kFewest = 3;  ///< with two rounds Student's factor is 12.7
  Interrupt interrupt = {};          ///< checked between rounds; the result is then mistrusted
  std::function<void(const std::string&)> say = {};
};

/// Measures one round and returns the records of `overlap_map`. Called with its number, from 1, and
/// its share of the remaining time in s, infinite without a limit.
using MeasuredRound = std::function<std::vector<Measurement>(int round, double most_seconds)>;

/// The records of all rounds, with a condition "round" if there are several.
/// Throws: ValueError for no round; exceptions of `measured`, except `Interrupted` after the first
/// round.
[[nodiscard]] std::vector<Measurement> overlap_map_in_rounds(const OverlapRounds& options,
                                                             const MeasuredRound& measured);

/// Runs `words` with "--round-file FILE" appended on `ranks` ranks of this machine, and returns the
/// results in the file.
/// Throws: ValueError if the command refuses the words (status 2), CommunicationError for any other
/// failure; Interrupted; as `run_ranks`, `read_results`.
[[nodiscard]] Results launched_map_round(int ranks, std::vector<std::string> words,
                                         const Interrupt& interrupt = {});

}  // namespace d5
