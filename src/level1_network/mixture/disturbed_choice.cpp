// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/disturbed_choice.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/machine/machine.hpp"
#include "core/measuring/trust.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5 {
namespace {

constexpr const char* kChosen = "chosen while ";
constexpr int kMostTimes = 3;

std::string disturbance_by(double others) {
  return detail::disturbance(others, threads(), detail::machine().hardware_threads);
}

bool is_over(const SelectionOptions& options) {
  const auto others = options.watch_others();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  return disturbance_by(others()).empty();
}

void tell_disturbance(KeptSelection& kept) {
  const std::string disturbance = disturbance_by(kept.others);
  auto& notes = kept.selection.notes;
  std::erase_if(notes, [](const std::string& note) { return note.starts_with(kChosen); });
  if (disturbance.empty()) return;
  notes.push_back(kChosen + disturbance + "; " +
                  (kept.times < kMostTimes
                       ? "it is measured again when that is over"
                       : fmt::format("the {} times before as well: 'd5 net show MODEL --framework "
                                     "auto --remeasure' measures again",
                                     kMostTimes - 1)));
}

}  // namespace

KeptSelection standing_selection(const SelectionPurpose& purpose, const SelectionOptions& options) {
  KeptSelection kept = kept_selection(purpose);
  if (kept.selection.chosen.empty()) return kept;
  tell_disturbance(kept);
  const bool is_disturbed = !disturbance_by(kept.others).empty();
  if (is_disturbed && kept.times < kMostTimes && is_over(options)) {
    kept.assignment = {};
    kept.selection = {};
  }
  return kept;
}

void keep_measured(const SelectionPurpose& purpose, const KeptSelection& before, double others,
                   KeptSelection& found) {
  found.others = others;
  found.times = before.times + 1;
  tell_disturbance(found);
  keep_selection(purpose, found);
}

}  // namespace d5
