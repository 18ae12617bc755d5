// SPDX-License-Identifier: Apache-2.0
#include "prediction/profile/step_recorder.hpp"

#include <algorithm>
#include <limits>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {

void StepRecorder::start(double begin) {
  begin_ = begin;
  readings_ = 0;
  cuts_forward_ = cuts_backward_ = false;
  marks_.clear();
}

void StepRecorder::mark(What what, const StepInfo* step, std::size_t parameter, bool is_cut) {
  if (is_cut) ++readings_;
  marks_.push_back({is_cut ? now_seconds() : begin_, what, step, parameter});
}

double StepRecorder::seconds_of_mark() {
  constexpr int kTimes = 5, kMarks = 10'000;
  double least = std::numeric_limits<double>::infinity();
  StepRecorder recorder;
  for (int i = 0; i < kTimes; ++i) {
    recorder.start(0);
    const double begin = now_seconds();  // timed: marks only
    for (int m = 0; m < kMarks; ++m) recorder.mark(What::gradient);
    least = std::min(least, (now_seconds() - begin) / kMarks);
  }
  return least;
}

RecordedStep StepRecorder::finish(const std::vector<Parameter>& parameters) const {
  RecordedStep recorded;
  double last = begin_, opened = begin_;
  const auto add = [&](TrainingProfile::Piece piece, double begin, double end) {
    recorded.pieces.push_back(std::move(piece));
    recorded.gaps.push_back(begin - last);
    recorded.seconds.push_back(end - begin);
    last = end;
  };
  const auto goes_back = [](const Mark& mark) {
    return mark.what == What::node_begin && mark.step->pass == Pass::backward;
  };
  const bool announces_back = std::ranges::any_of(marks_, goes_back);
  const bool announces_forward = std::ranges::any_of(
      marks_, [&](const Mark& mark) { return mark.what == What::node_begin && !goes_back(mark); });
  bool forward_over = false;
  for (const auto& [time, what, step, parameter] : marks_) {
    switch (what) {
      case What::node_begin:
        opened = time;
        break;
      case What::node_end: {
        const bool back = step->pass == Pass::backward;
        const Cost cost = back ? Cost{} : step->cost;
        const std::string& name = step->node.name.empty() && !step->node.outputs.empty()
                                      ? step->node.outputs.front()
                                      : step->node.name;
        add({.name = step->path.empty() ? name : step->path,
             .kind = back ? "backward" : "forward",
             .op_type = step->node.op_type,
             .flop = cost.flop,
             .bytes = cost.bytes_read + cost.bytes_written},
            opened, time);
        break;
      }
      case What::forward_end:
        if (!announces_forward) add({.name = "forward", .kind = "forward"}, last, time);
        forward_over = true;
        break;
      case What::gradient: {
        if (!announces_back) {
          const bool whole = !announces_forward && !forward_over;
          if (whole) break;
          add({.name = "to " + parameters[parameter].name, .kind = "backward"}, last, time);
        }
        if (recorded.pieces.empty()) break;
        recorded.pieces.back().final_parameters.push_back(parameter);
        break;
      }
      case What::run_end:
        if (!announces_back) add({.name = "rest", .kind = "backward"}, last, time);
        recorded.end = time;
        break;
    }
  }
  std::size_t final_ones = 0;
  for (const auto& piece : recorded.pieces) final_ones += piece.final_parameters.size();
  if (recorded.end == 0 || final_ones < parameters.size()) {
    throw Unsupported(
        "this executor announces neither nodes nor the end of its forward pass, or not every "
        "gradient, so its steps cannot be cut into pieces; profile d5's own (reference, or a "
        "framework's operators such as 'onednn')");
  }
  return recorded;
}

}  // namespace d5
