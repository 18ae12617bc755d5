// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::app {

/// Replaces former words, for one release: `d5 network` is `d5 cluster` now, and the option
/// `--network` of `d5 predict` is `--cluster`. Notes each replaced word on stderr, on one of a
/// job's ranks. `words` is a command line without the program's name.
[[nodiscard]] std::vector<std::string> with_present_words(std::vector<std::string> words);

}  // namespace d5::app
