// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/own_steps.hpp"

#include <fmt/format.h>

#include <atomic>

#include "d5/core/entries/option.hpp"

namespace d5 {
namespace {

std::atomic<bool> own_steps_allowed = false;

}  // namespace

void allow_own_steps() { own_steps_allowed = true; }

std::string own_step_refusal(const std::string& step) {
  if (step != "python" || own_steps_allowed) return {};
  return fmt::format("step '{}' runs code of your own, which an evaluation does with {} alone",
                     step, option_word("allow_code"));
}

}  // namespace d5
