// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace d5::app {

/// Called by `Program` once the words are parsed. `words` are those after the program's name.
void keep_given_words(std::vector<std::string> words, const CLI::App& command);

/// The line that measures all of this run again: its words as they were given, without
/// `kAsideOptions`, with the number of threads in use, and under as many ranks.
///
///     d5 op bench 'Relu 8' 'Tanh 8' --samples 40 --threads 2
[[nodiscard]] std::string given_line();

}  // namespace d5::app
