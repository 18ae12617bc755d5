// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// The pieces of one training step, in the order in which they ran, with their times.
struct RecordedStep {
  std::vector<TrainingProfile::Piece> pieces;
  std::vector<double> seconds, gaps;
  double end = 0;  ///< end of the network's run, on the clock
};

/// Reads the clock at an executor's events, and cuts the step into pieces afterwards. Backward is
/// cut at nodes, or at gradients if the executor announces no nodes in backward. If nodes are the
/// cuts, gradients and the end of forward need no clock reading.
class StepRecorder final : public ExecutionEvent {
 public:
  /// Clears all marks. `begin`: clock reading at the start of the first gap.
  void start(double begin);
  /// Throws: Unsupported for an executor without events to cut at.
  [[nodiscard]] RecordedStep finish(const std::vector<Parameter>& parameters) const;

  /// Number of clock readings in the last step.
  [[nodiscard]] std::size_t readings() const { return readings_; }
  /// Time of a mark with a clock reading: the minimum over several loops. Units: s.
  [[nodiscard]] static double seconds_of_mark();

  void before_run(Pass) override {}
  void after_run(Pass) override { mark(What::run_end); }
  void after_pass(Pass pass) override {
    if (pass == Pass::forward) mark(What::forward_end, nullptr, 0, !cuts_forward_);
  }
  void before_node(const StepInfo& step) override {
    (step.pass == Pass::backward ? cuts_backward_ : cuts_forward_) = true;
    mark(What::node_begin, &step);
  }
  void after_node(const StepInfo& step) override {
    if (step.device != Device{}) step.stream.synchronise();
    mark(What::node_end, &step);
  }
  void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) override {
    if (parameter.gradient.device() != Device{}) stream.synchronise();
    mark(What::gradient, nullptr, index, !cuts_backward_);
  }

 private:
  enum class What { forward_end, node_begin, node_end, gradient, run_end };
  struct Mark {
    double time;
    What what;
    const StepInfo* step;
    std::size_t parameter;
  };
  /// `is_cut`: with a clock reading.
  void mark(What what, const StepInfo* step = nullptr, std::size_t parameter = 0,
            bool is_cut = true);

  double begin_ = 0;
  std::size_t readings_ = 0;
  bool cuts_forward_ = false, cuts_backward_ = false;  ///< in this step
  std::vector<Mark> marks_;                            ///< keeps its memory from step to step
};

}  // namespace d5
