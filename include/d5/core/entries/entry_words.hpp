// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5 {

/// An entry and its settings as one word of a command line, NAME[:KEY=VALUE]...
///
///     const EntryChoice choice = entry_of_words("optimizer", "momentum:nesterov=true");
///
/// `kind` is the word for messages. Throws: ValueError for a setting without "=".
[[nodiscard]] EntryChoice entry_of_words(std::string_view kind, const std::string& text);

/// What `entry_of_words` reads.
[[nodiscard]] std::string to_words(const EntryChoice& choice);

/// The one of `known` that a person means by `word`: itself, with dashes for underscores, or cut
/// short where only one begins so ("single-stream", "burst"); `word` where there is none.
[[nodiscard]] std::string meant_name(std::string_view word, const std::vector<std::string>& known);

}  // namespace d5
