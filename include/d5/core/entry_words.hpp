// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "d5/core/option.hpp"

namespace d5 {

/// An entry and its settings as one word of a command line, NAME[:KEY=VALUE]...
///
///     const EntryChoice choice = entry_of_words("optimizer", "momentum:nesterov=true");
///
/// `kind` is the word for messages. Throws: ValueError for a setting without "=".
[[nodiscard]] EntryChoice entry_of_words(std::string_view kind, const std::string& text);

/// What `entry_of_words` reads.
[[nodiscard]] std::string to_words(const EntryChoice& choice);

}  // namespace d5
