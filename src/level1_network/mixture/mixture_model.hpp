// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "level1_network/mixture/kernel_race.hpp"

namespace d5 {

/// Cost model of a mixture of frameworks: each node's time measured within its own framework's
/// plan, the reorders between two frameworks, and effects seen in mixtures that ran (idle threads
/// of one framework that slow down another, caches).
class MixtureModel {
 public:
  /// Measures each framework's time to reorder its layouts to row-major.
  MixtureModel(KernelRace& race, const TrialBench& bench);

  /// Framework of each node in the mixture of least cost.
  [[nodiscard]] std::vector<std::string> cheapest() const;
  /// Learns from the node times of a mixture that was run.
  void learn(const std::vector<std::string>& frameworks, const std::vector<double>& seconds);

 private:
  struct Edge {
    std::size_t from, to;
    std::string tensor;
  };
  void find_edges(const PlanTrial& trial);
  void measure_reorders(KernelRace::Runner& runner, const TrialBench& bench);
  /// Time to reorder the tensor from that framework's layout to row-major.
  [[nodiscard]] double leaving(const Edge& edge, const std::string& framework) const;
  /// Total cost of the tensor's transition to the other framework.
  [[nodiscard]] double entering(std::size_t edge, const std::string& from,
                                const std::string& to) const;

  const KernelRace& race_;
  std::vector<std::vector<std::string>> choices_;  ///< choices of each node
  std::vector<Edge> edges_;
  std::map<std::pair<std::string, std::string>, double> leaving_;  ///< keyed by tensor and
                                                                   ///< framework
  std::map<std::pair<std::string, std::string>, double> switches_;
  std::map<std::tuple<std::size_t, std::string, std::string>, double> seen_;  ///< keyed by edge
};

}  // namespace d5
