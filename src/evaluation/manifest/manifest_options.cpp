// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

OptionText ManifestOptions::text_of(const FieldRule& rule) {
  if (rule.words.empty()) return {.placeholder = "NAME"};
  return {.placeholder = fmt::format("{}", fmt::join(rule.words, "|")),
          .read = [words = rule.words](const std::string& text) {
            if (std::ranges::find(words, text) != words.end()) return text;
            throw ValueError(
                fmt::format("'{}' given, expected {}", printable(text), fmt::join(words, " or ")));
          }};
}

}  // namespace d5::detail
