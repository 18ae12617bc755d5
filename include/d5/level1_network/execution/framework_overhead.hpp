// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/level1_network/graph/execution_event.hpp"

namespace d5 {

/// Framework overhead: the time of a whole run minus the sum of its nodes' times. A node that holds
/// graphs counts by the nodes of these; the time between them is overhead. The subject must name
/// the executor's events; unsupported if no node was observed. Units: seconds per run.
///
/// The cost of reading the clock twice per node (`clock_cost`) is subtracted. The record's
/// conditions give the subtracted time, and the overhead's share of the whole run.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 1 metrics.
class FrameworkOverhead : public Metric, public ExecutionEvent {
 public:
  [[nodiscard]] std::string name() const override { return "framework_overhead"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override;
  void end() override;
  void summarise(Measurement& result) const override;

  void before_run(Pass pass) override;
  void after_run(Pass pass) override;
  void before_node(const StepInfo& step) override;
  void after_node(const StepInfo& step) override;
  void before_nested_node(const StepInfo& step) override { before_node(step); }
  void after_nested_node(const StepInfo& step) override { after_node(step); }

 protected:
  /// Overhead's share of the whole run, one sample each; empty if no node was observed.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

 private:
  /// A node under way.
  struct Open {
    double begin;        ///< a reading of the clock
    bool holds = false;  ///< whether nodes of its graphs were observed
  };
  double run_begin_ = 0;          ///< a reading of the clock
  std::vector<Open> open_;        ///< nested, the innermost last
  double nodes_ = 0, whole_ = 0;  ///< seconds since `begin`
  std::int64_t steps_ = 0;        ///< nodes run since `begin`
  int repetitions_ = 1;
  std::vector<double> samples_, shares_, clock_seconds_;
};

}  // namespace d5
