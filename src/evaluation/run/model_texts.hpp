// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// Texts and files that a model brings: alphabets, words of classes, tokenizers.
struct ModelTexts {
  /// Reads the network's metadata. Called if a setting asks for it.
  std::function<std::map<std::string, std::string>()> metadata;
  /// Finds the paths of the model's files by the names of its assets. Called likewise.
  std::function<std::map<std::string, std::string>()> files;
};

/// The steps with each setting "network:KEY" replaced by that text of the network's metadata, and
/// each "asset:NAME" by the content of that file; by its path, if the option is one.
/// Throws: NotFound, with the known keys or names.
[[nodiscard]] std::vector<EntryChoice> with_model_texts(
    std::vector<EntryChoice> steps,
    const std::function<std::vector<Option>(const std::string&)>& options_of,
    const ModelTexts& texts);

}  // namespace d5::detail
