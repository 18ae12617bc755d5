// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/gradients/backward_schedule.hpp"

#include <set>

namespace d5 {
namespace {

using Slot = Draft::Slot;
using Step = Draft::Step;

class Schedule {
 public:
  explicit Schedule(Draft& draft) : draft_(draft), time_(draft.steps.size()) {
    draft.again.clear();
    draft.again_slots.clear();
    draft.plan->again_values.clear();
    for (std::size_t i = 0; i < draft.steps.size(); ++i) {
      if (!draft.steps[i].recomputed) continue;
      for (const Slot* slot : draft.steps[i].outputs) {
        if (slot) writers_[slot] = i;
      }
    }
    // Values that live until the end are available anyway.
    for (const auto* lasting : {&draft.answers, &draft.updates}) {
      for (const auto& [name, slot] : *lasting) writers_.erase(slot);
    }
  }

  void add(Draft::BackwardStep& step) {
    const Step& forward = *step.forward;
    step.again.clear();
    for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
      if (forward.traits.backward_reads_inputs.contains(i)) want(forward.inputs[i]);
    }
    for (std::size_t k = 0; k < forward.outputs.size(); ++k) {
      if (forward.traits.backward_reads_outputs.contains(k)) want(forward.outputs[k]);
    }
    if (forward.recomputed && !forward.saved.empty()) want(place_of(forward));
    run_again(step);

    step.inputs = present(forward.inputs);
    step.outputs = present(forward.outputs);
    const auto again = again_.find(place_of(forward));
    step.saver = again == again_.end() ? step.forward : again->second;
    step.time = time_++;
  }

 private:
  [[nodiscard]] std::size_t place_of(const Step& step) const {
    return std::size_t(&step - draft_.steps.data());
  }
  void want(std::size_t step) {
    if (!again_.contains(step)) wanted_.insert(step);
  }
  void want(const Slot* slot) {
    if (const auto writer = writers_.find(slot); writer != writers_.end()) want(writer->second);
  }

  /// Reruns the steps that compute the wanted values, and their inputs.
  void run_again(Draft::BackwardStep& before) {
    // A step reads outputs of earlier steps, so one pass from the last to the first finds all.
    for (auto last = wanted_.rbegin(); last != wanted_.rend(); ++last) {
      for (const Slot* slot : draft_.steps[*last].inputs) want(slot);
    }
    for (const std::size_t place : wanted_) {
      Step& step = draft_.again.emplace_back(draft_.steps[place]);
      step.inputs = present(step.inputs);
      step.saved_blocks.clear();
      for (Slot*& slot : step.outputs) {
        if (slot) slot = &another(*slot);
      }
      again_[place] = &step;
      before.again.push_back(&step);
      ++time_;
    }
    wanted_.clear();
  }

  Slot& another(Slot& slot) {
    Slot& result = draft_.again_slots.emplace_back(slot);
    result.name += " again";
    result.value = &draft_.plan->again_values.emplace_back();
    if (writers_.contains(&slot)) present_[&slot] = &result;
    return result;
  }

  /// The version of each slot that can be read now.
  [[nodiscard]] std::vector<Slot*> present(const std::vector<Slot*>& slots) const {
    std::vector<Slot*> result;
    for (Slot* slot : slots) {
      const auto again = present_.find(slot);
      result.push_back(again == present_.end() ? slot : again->second);
    }
    return result;
  }

  Draft& draft_;
  std::size_t time_;
  std::map<const Slot*, std::size_t> writers_;  ///< step index that writes each value that is not
                                                ///< kept
  std::set<std::size_t> wanted_;
  std::map<std::size_t, Step*> again_;
  std::map<const Slot*, Slot*> present_;
};

}  // namespace

void schedule_backward(Draft& draft) {
  Schedule schedule(draft);
  for (Draft::BackwardStep& step : draft.backward) schedule.add(step);
}

}  // namespace d5
