// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::fuzz {

/// The result of a case.
struct Verdict {
  enum class Kind { done, refused, found };
  Kind kind = Kind::done;
  std::string text = {};  ///< what was found
};

/// Runs a case in this process, which ends by a signal where the case takes more than 10 s of
/// processor time. Found is what `run_case` says, an exception that is no d5::Error, a part that
/// broke its contract, and memory far above the budget.
[[nodiscard]] Verdict judge(const std::string& bytes);

/// Whether cases of this process lost memory, which LeakSanitizer then reports; false without it.
[[nodiscard]] bool lost_memory();

/// The budget under which cases run (`set_memory_budget`), small enough that a size which nobody
/// checked shows.
void set_budget();

}  // namespace d5::fuzz
