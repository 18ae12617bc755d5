// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"
#include "d5/prediction/graph/slowdown.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// What a prediction computes and communicates with; a map must be of the same.
struct ContentionSetup {
  std::map<std::string, std::string> machine = {};  ///< `machine_words`; empty: unknown
  int threads = 0;                                  ///< threads of a rank's computation; 0: unknown
  std::string all_reduce = "ring";                  ///< name of the algorithm
  CommunicationResources resources = {};
};

/// A measured overlap map (`overlap_map`), as predictions use it: the slowdown of a kernel by its
/// FLOP and bytes.
///
///     const ContentionMap map(read_results("map.json"));
///     const auto cells = map.cells_for({.all_reduce = "node_memory", .resources = {.threads =
///     1}}); cells.slowdown(2e9, 3e6).kernel;
///
/// Units: FLOP; bytes of a kernel's tensors, each counted once: its working set.
class ContentionMap {
 public:
  /// `misfit`: what `cells_for` does if the map was measured with something else.
  /// Throws: ValueError if no record is a map's, or if kernels lack their FLOP and bytes.
  explicit ContentionMap(const Results& results, Misfit misfit = Misfit::refuse);

  struct Cell {
    std::string kernel;
    double flop = 0, bytes = 0;
    Slowdown slowdown = {};
    bool mistrusted = false;  ///< by the map
    bool operator==(const Cell&) const = default;
  };
  /// The cells of one setup.
  struct Cells {
    std::vector<Cell> cells;
    std::vector<std::string> mistrusted = {};  ///< reasons; empty: none
    /// Between the map's kernels: the geometric mean, weighted by the inverse square of the
    /// distance in log2 FLOP and log2 bytes, and the cell itself for a kernel of the map. Source:
    /// Shepard, "A Two-Dimensional Interpolation Function for Irregularly-Spaced Data" (1968).
    [[nodiscard]] Slowdown slowdown(double flop, double bytes) const;
    /// Whether the kernel has more or less FLOP or bytes than every kernel of the map.
    [[nodiscard]] bool lacks(double flop, double bytes) const;
  };
  /// Resources without a number of threads have none. Throws: ValueError that names the
  /// differences, unless they are to be mistrusted.
  [[nodiscard]] Cells cells_for(const ContentionSetup& setup) const;
  [[nodiscard]] int ranks() const { return ranks_; }
  bool operator==(const ContentionMap&) const = default;

 private:
  Misfit misfit_;
  std::map<std::string, std::string> machine_;
  int threads_ = 0, ranks_ = 0;
  std::string all_reduce_;
  std::map<std::string, std::vector<Cell>> cells_;  ///< by resources, in words
};

}  // namespace d5
