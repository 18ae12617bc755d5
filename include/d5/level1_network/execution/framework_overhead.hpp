// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/level1_network/graph/execution_event.hpp"

namespace d5 {

/// What an executor adds on top of its operators: time of a whole run minus the sum of its nodes'.
/// Of a node whose graphs run, the nodes of these count, and what lies between them is overhead.
/// Its subject names the executor's events; unsupported if no node was observed. Units: s a run.
///
/// Reading the clock twice a node costs time as well: what `clock_cost` says of it is taken off,
/// and the record's conditions tell how much, and the overhead's share of the whole run.
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
  /// Of whole runs, a sample each; empty if no node was observed.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

 private:
  /// A node that runs.
  struct Open {
    double begin;        ///< a reading of the clock
    bool holds = false;  ///< nodes of its graphs were observed
  };
  double run_begin_ = 0;          ///< a reading of the clock
  std::vector<Open> open_;        ///< each within the one before it
  double nodes_ = 0, whole_ = 0;  ///< seconds since `begin`
  std::int64_t steps_ = 0;        ///< nodes run since `begin`
  int repetitions_ = 1;
  std::vector<double> samples_, shares_, clock_seconds_;
};

}  // namespace d5
