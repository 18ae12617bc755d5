// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"

namespace d5 {

/// Every framework that can be loaded here, loaded: d5's own first, then plug-ins by their names.
/// `frameworks` says afterwards why others cannot.
[[nodiscard]] std::vector<Framework*> loadable_frameworks();

/// What stands for a framework where all are named.
using FrameworkWords = std::function<std::vector<std::string>(Framework&)>;
/// `words`, where "all" stands for every framework that can be loaded, by its name or as `words_of`
/// says. Each word once, where it came first; without "all" nothing is loaded or changed.
///
///     framework_words({"torch", "all"})  // torch, reference, and the others
[[nodiscard]] std::vector<std::string> framework_words(const std::vector<std::string>& words,
                                                       const FrameworkWords& words_of = {});

}  // namespace d5
