// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/prediction/training/simulated_training.hpp"

namespace d5::detail {

/// The cells of the options' map for a profile's machine and threads, and the scheme's all-reduce.
/// Throws: as `ContentionMap::cells_for`.
[[nodiscard]] ContentionMap::Cells map_cells(const TrainingProfile& profile,
                                             const SimulatedTrainingOptions& options);

/// Whether simulated ranks hold up messages until they poll, as the calls of a map without threads
/// were held up beside a kernel: slowing the messages by such a map, too, would count the wait
/// twice.
[[nodiscard]] bool simulates_waits(const SimulatedTrainingOptions& options);

/// What an overlap map says of a training's pieces.
struct ContendedPieces {
  std::vector<Slowdown> slowdowns = {};  ///< by piece
  double lacking = 0;  ///< share of the step in pieces that the map has no kernel like
  std::vector<std::string> mistrusted = {};  ///< reasons; empty: none
};
/// Looks up each piece by its FLOP and bytes: those of the profile, in proportion to the batch;
/// twice those of forward for backward; for an update 2 FLOP an element of the parameter, and three
/// times its bytes. Pieces of unknown work are slowed by nothing, and lack. Without a map no piece
/// has a slowdown. Throws: as `map_cells`.
[[nodiscard]] ContendedPieces contended_pieces(const TrainingProfile& profile,
                                               const SimulatedTrainingOptions& options);

/// Name and resources of a scheme's all-reduce, without the wrapper `with_resources`.
struct PlannedAllReduce {
  std::string name;
  CommunicationResources resources = {};
};
/// `usual`: the name if the scheme's settings have none.
[[nodiscard]] PlannedAllReduce planned_all_reduce(const EntryChoice& scheme,
                                                  const std::string& usual);

/// The slowdown of several pieces that run one after the other, each for its time.
class JoinedSlowdown {
 public:
  void add(double seconds, const Slowdown& slowdown) {
    alone_ += seconds;
    beside_ += seconds * slowdown.kernel;
    communicated_ += seconds * slowdown.kernel / slowdown.all_reduce;
  }
  /// The same time beside communication as the pieces one by one, and the same progress of
  /// communication.
  [[nodiscard]] Slowdown joined() const {
    if (alone_ == 0) return {};
    return {.kernel = beside_ / alone_, .all_reduce = beside_ / communicated_};
  }

 private:
  double alone_ = 0, beside_ = 0, communicated_ = 0;
};

}  // namespace d5::detail
