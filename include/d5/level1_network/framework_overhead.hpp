// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/metric.hpp"
#include "d5/level1_network/execution_event.hpp"

namespace d5 {

/// What an executor adds on top of its operators: time of a whole run minus the sum of its nodes'.
/// Add it to the executor's events and measure with it. Units: s a run.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 1 metrics.
class FrameworkOverhead final : public Metric, public ExecutionEvent {
 public:
  [[nodiscard]] std::string name() const override { return "framework_overhead"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] int reruns() const override { return 30; }
  void begin(int repetitions) override;
  void end() override;
  void summarise(Measurement& result) const override;

  void before_run(Pass pass) override;
  void after_run(Pass pass) override;
  void before_node(const onnx::Node& node, std::size_t step, Pass pass) override;
  void after_node(const onnx::Node& node, std::size_t step, Pass pass) override;

 private:
  double run_begin_ = 0, node_begin_ = 0, nodes_ = 0, whole_ = 0;
  int repetitions_ = 1;
  std::vector<double> samples_, shares_;
};

}  // namespace d5
