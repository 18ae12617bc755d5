// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "level1_network/mixture/kernel_race.hpp"

namespace d5 {

/// What a mixture of frameworks costs: each node as it was measured among its own framework's, and
/// between two frameworks the reorders, and what mixtures that ran have shown besides (threads of
/// one that wait in another's way, caches).
class MixtureModel {
 public:
  /// Measures how long each framework takes to bring what it arranges into rows.
  MixtureModel(KernelRace& race, const TrialBench& bench);

  /// Who runs each node in the mixture that costs least.
  [[nodiscard]] std::vector<std::string> cheapest() const;
  /// That mixture was run: these are its nodes' times.
  void learn(const std::vector<std::string>& frameworks, const std::vector<double>& seconds);

 private:
  struct Edge {
    std::size_t from, to;
    std::string tensor;
  };
  void find_edges(const PlanTrial& trial);
  void measure_reorders(KernelRace::Runner& runner, const TrialBench& bench);
  /// Into rows, of what that framework makes of the tensor.
  [[nodiscard]] double leaving(const Edge& edge, const std::string& framework) const;
  /// All that it costs besides that the other framework reads it.
  [[nodiscard]] double entering(std::size_t edge, const std::string& from,
                                const std::string& to) const;

  const KernelRace& race_;
  std::vector<std::vector<std::string>> choices_;  ///< of each node
  std::vector<Edge> edges_;
  std::map<std::pair<std::string, std::string>, double> leaving_;  ///< by tensor and framework
  std::map<std::pair<std::string, std::string>, double> switches_;
  std::map<std::tuple<std::size_t, std::string, std::string>, double> seen_;  ///< by edge
};

}  // namespace d5
