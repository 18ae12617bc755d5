// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/container.hpp"

namespace d5 {
namespace {

/// Whether the word is a container's file instead of a data set's name, perhaps misspelt.
bool is_file(const std::string& word) {
  std::error_code ignored;
  if (word.find('/') != word.npos || std::filesystem::exists(word, ignored)) return true;
  try {
    return word.find('.') != word.npos && !container_of(word).empty();
  } catch (const NotFound&) {
    return false;
  }
}

}  // namespace

EntryChoice dataset_of_words(const std::string& text) {
  EntryChoice choice = entry_of_words("dataset", text);
  if (datasets().find(choice.name) || !is_file(choice.name)) return choice;
  choice.settings.set("train", choice.name);
  choice.name = "container";
  return choice;
}

std::shared_ptr<const Dataset> open_part(const std::string& text, const std::string& part,
                                         const Interrupt& interrupt) {
  const EntryChoice choice = dataset_of_words(text);
  const DatasetPair data = open_dataset(choice.name, choice.settings, interrupt);
  if (part == "train") return data.train;
  if (part == "test" && data.test) return data.test;
  throw NotFound(
      fmt::format("data set {} has no {} part", printable(choice.name), printable(part)));
}

}  // namespace d5
