// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The enumerator for `word`, the value of a node's attribute. Throws: ValueError with the known
/// words for another one.
///
///     mode_ = word_of<Mode>(node, "mode", view.mode(), {{"avg", Mode::mean}, {"max", Mode::max}});
template <class E>
[[nodiscard]] E word_of(const onnx::Node& node, std::string_view attribute, std::string_view word,
                        std::initializer_list<std::pair<std::string_view, E>> words) {
  std::string known;
  for (const auto& [name, value] : words) {
    if (name == word) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw ValueError(fmt::format("{}: {} is '{}', expected one of {}", onnx::describe(node),
                               attribute, printable(word), known));
}

}  // namespace d5::detail
