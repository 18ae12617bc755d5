// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/recomputation_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "level1_network/plan/memory/memory_layout.hpp"

namespace d5 {
namespace {

using Step = Draft::Step;
using Steps = std::vector<Step*>;

/// A trial and its result.
struct Choice {
  Steps steps;
  std::size_t bytes = std::numeric_limits<std::size_t>::max();  ///< on the device with the largest
                                                                ///< need
  double flop = std::numeric_limits<double>::infinity();        ///< FLOP of recomputed steps
};

double flop_of(const Step& step) {
  return step.op->cost(InferContext(*step.node, step.input_descs, step.constants)).flop;
}

double written_bytes(const Step& step) {
  double bytes = 0;
  for (const ValueDesc& desc : step.output_descs) {
    if (desc.is_static()) bytes += double(desc.tensor.bytes());
  }
  return bytes;
}

class Search {
 public:
  Search(Draft& draft, std::span<Step* const> steps)
      : draft_(draft), steps_(steps.begin(), steps.end()), enough_(draft.state.memory_limit) {}

  void run() {
    Choice nothing = tried({});
    if (nothing.bytes <= enough_) return;
    least_ = std::move(nothing);
    for (;;) {
      cheapest_ = {};
      try_cheapest();
      try_segments();
      if (cheapest_.steps.empty()) return mark(least_.steps);
      const Choice chosen = kept_again(cheapest_);
      if (planned_bytes(chosen) <= draft_.state.memory_limit) return mark(chosen.steps);
      // The planner may need slightly more memory than the bound used by the search.
      enough_ -= enough_ / 64;
    }
  }

 private:
  void mark(const Steps& steps) {
    for (Step& step : draft_.steps) step.recomputed = false;
    for (Step* step : steps) step->recomputed = true;
  }

  Choice tried(Steps steps) {
    mark(steps);
    plan_lifetimes(draft_);
    Choice choice{std::move(steps), 0, 0};
    for (const Device device : std::set(draft_.block_devices.begin(), draft_.block_devices.end())) {
      choice.bytes = std::max(choice.bytes, memory_bound(blocks_on(draft_, device)).bytes);
    }
    for (const Step& step : draft_.again) choice.flop += flop_of(step);
    return choice;
  }

  void consider(Steps steps) {
    Choice choice = tried(std::move(steps));
    if (choice.bytes < least_.bytes) least_ = choice;
    if (choice.bytes <= enough_ && choice.flop < cheapest_.flop) cheapest_ = std::move(choice);
  }

  /// Tries the steps with the least time per byte written: an eighth of them, two eighths ...
  void try_cheapest() {
    constexpr std::size_t kParts = 8;
    Steps sorted = steps_;
    std::ranges::stable_sort(sorted, {}, [](const Step* step) {
      return flop_of(*step) / std::max(written_bytes(*step), 1.0);
    });
    for (std::size_t part = 1; part <= kParts; ++part) {
      const auto end = sorted.begin() + std::ptrdiff_t(sorted.size() * part / kParts);
      consider(Steps(sorted.begin(), end));
    }
  }

  /// Tries segments of about equal bytes; each try has a fifth more segments.
  void try_segments() {
    const double most = std::max(2.0, 4 * std::sqrt(double(steps_.size())));
    std::size_t last = 0;
    for (double count = 2; count <= most; count *= 1.2) {
      if (std::size_t(count) == last) continue;
      last = std::size_t(count);
      consider(within_segments(last));
    }
  }

  /// Steps whose outputs no forward step after the end of their segment reads.
  Steps within_segments(std::size_t count) const {
    const std::vector<std::size_t> ends = ends_of_segments(count);
    const auto segment_of = [&](std::size_t time) {
      return std::ranges::lower_bound(ends, time) - ends.begin();
    };
    const auto readers = last_readers();
    Steps result;
    for (Step* step : steps_) {
      const auto begin = std::size_t(step - draft_.steps.data());
      const bool within = std::ranges::all_of(step->outputs, [&](const Draft::Slot* slot) {
        const auto reader = readers.find(slot);
        return reader == readers.end() || segment_of(reader->second) == segment_of(begin);
      });
      if (within) result.push_back(step);
    }
    return result;
  }

  [[nodiscard]] std::map<const Draft::Slot*, std::size_t> last_readers() const {
    std::map<const Draft::Slot*, std::size_t> readers;
    for (std::size_t now = 0; now < draft_.steps.size(); ++now) {
      for (const auto* read : {&draft_.steps[now].inputs, &draft_.steps[now].captured}) {
        for (const Draft::Slot* slot : *read) readers[slot] = now;
      }
    }
    return readers;
  }

  /// The last step of each segment, at the place with the fewest crossing bytes within half a
  /// segment of an equal division.
  [[nodiscard]] std::vector<std::size_t> ends_of_segments(std::size_t count) const {
    const std::vector<double> crossing = crossing_bytes();
    std::vector<double> written;  // up to each step
    for (const Step& step : draft_.steps) {
      written.push_back(written_bytes(step) + (written.empty() ? 0 : written.back()));
    }
    const double length = written.empty() ? 0 : written.back() / double(count);
    std::vector<std::size_t> ends;
    for (std::size_t s = 1; s < count; ++s) {
      const auto at = [&](double place) {
        return std::ranges::lower_bound(written, length * (double(s) + place)) - written.begin();
      };
      const auto first = crossing.begin() + at(-0.25), end = crossing.begin() + at(0.25);
      if (first == end) continue;
      const auto best = std::size_t(std::min_element(first, end) - crossing.begin());
      if (ends.empty() || best > ends.back()) ends.push_back(best);
    }
    return ends;
  }

  /// The bytes written up to each step and read by later ones.
  [[nodiscard]] std::vector<double> crossing_bytes() const {
    std::vector<double> changes(draft_.steps.size() + 1, 0.0);
    const auto readers = last_readers();
    for (std::size_t now = 0; now < draft_.steps.size(); ++now) {
      for (const Draft::Slot* slot : draft_.steps[now].outputs) {
        const auto reader = readers.find(slot);
        if (!slot || reader == readers.end() || !slot->desc.is_static()) continue;
        changes[now] += double(slot->desc.tensor.bytes());
        changes[reader->second] -= double(slot->desc.tensor.bytes());
      }
    }
    for (std::size_t now = 1; now < changes.size(); ++now) changes[now] += changes[now - 1];
    changes.pop_back();
    return changes;
  }

  /// Drops recomputed steps whose outputs fit into memory, halves of them at once if possible.
  Choice kept_again(Choice choice) {
    Steps sorted = choice.steps;
    std::ranges::stable_sort(sorted, std::greater(), [](const Step* s) { return flop_of(*s); });
    keep_again(choice, sorted);
    return choice;
  }

  void keep_again(Choice& choice, std::span<Step* const> some) {
    if (some.empty()) return;
    Steps rest;
    for (Step* step : choice.steps) {
      if (std::ranges::find(some, step) == some.end()) rest.push_back(step);
    }
    Choice without = tried(std::move(rest));
    if (without.bytes <= enough_ && without.flop <= choice.flop) {
      choice = std::move(without);
      return;
    }
    if (some.size() == 1) return;
    keep_again(choice, some.first(some.size() / 2));
    keep_again(choice, some.subspan(some.size() / 2));
  }

  std::size_t planned_bytes(const Choice& choice) {
    (void)tried(choice.steps);
    std::size_t most = 0;
    for (const Device device : std::set(draft_.block_devices.begin(), draft_.block_devices.end())) {
      std::vector<MemoryBlock> blocks = blocks_on(draft_, device);
      most = std::max(most, assign_offsets(blocks));
    }
    return most;
  }

  Draft& draft_;
  const Steps steps_;
  std::size_t enough_;  ///< bytes
  Choice least_, cheapest_;
};

}  // namespace

void search_recomputation(Draft& draft, std::span<Step* const> steps) {
  Search(draft, steps).run();
}

}  // namespace d5
