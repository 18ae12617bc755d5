// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "level1_network/mixture/mixture_search.hpp"

namespace d5 {

/// Key of a cached choice, in words: the choice is valid if all of them are equal.
struct SelectionPurpose {
  std::string network;  ///< `structure_digest`
  std::string words;    ///< machine, threads, versions, inputs, pass, options
};

/// The part of the key that is the same for all choices of a process: machine, threads, versions.
[[nodiscard]] std::string selection_circumstances();

struct KeptSelection {
  KernelAssignment assignment = {};
  FrameworkSelection selection = {};
  double others = 0;  ///< processors that other work kept busy meanwhile
  int times = 0;      ///< number of times that it was measured
};

/// Reads a choice from the user's cache (`D5_CACHE_DIR`, or else ~/.cache/d5). If there is none, or
/// the file is damaged or not d5's (which a note reports), `chosen` is empty.
[[nodiscard]] KeptSelection kept_selection(const SelectionPurpose& purpose);
/// If the file cannot be written, a note reports it and the choice is valid for this process only.
void keep_selection(const SelectionPurpose& purpose, KeptSelection& kept);

}  // namespace d5
