// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "level1_network/mixture/mixture_search.hpp"

namespace d5 {

/// What a choice is for, in words: it holds again where all of them are the same.
struct SelectionPurpose {
  std::string network;  ///< `structure_digest`
  std::string words;    ///< machine, threads, versions, inputs, pass, options
};

/// What is the same for all choices of a process: machine, threads, versions.
[[nodiscard]] std::string selection_circumstances();

struct KeptSelection {
  KernelAssignment assignment = {};
  FrameworkSelection selection = {};
  double others = 0;  ///< processors that other work kept busy meanwhile
  int times = 0;      ///< that it was measured
};

/// From the user's cache (`D5_CACHE_DIR`, or else ~/.cache/d5). Where none was kept, or the file is
/// damaged or not d5's, which a note of it says then, `chosen` is empty.
[[nodiscard]] KeptSelection kept_selection(const SelectionPurpose& purpose);
/// Where the file cannot be written a note says so: the choice holds for this process.
void keep_selection(const SelectionPurpose& purpose, KeptSelection& kept);

}  // namespace d5
