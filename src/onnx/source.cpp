// SPDX-License-Identifier: Apache-2.0
#include "onnx/source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::onnx::detail {

void Source::go_on() const { interrupt.check(fmt::format("'{}'", printable(file))); }

void Source::take(std::size_t bytes, std::string_view tensor) {
  go_on();
  const std::size_t budget = memory_budget();
  if (bytes > budget || tensor_bytes > budget - bytes) {
    throw MemoryError(
        fmt::format("'{}': tensor '{}' takes {} bytes, and with the {} bytes before it more than "
                    "the memory budget of {}",
                    printable(file), printable(tensor), bytes, tensor_bytes, budget));
  }
  tensor_bytes += bytes;
}

void Source::fail(std::string_view what) const {
  throw FormatError(fmt::format("'{}': {}", printable(file), what));
}

void Source::refuse(std::string_view what) const {
  throw Unsupported(fmt::format("'{}': {}", printable(file), what));
}

void Source::fail(std::string_view what, const std::exception& reason) const {
  fail(fmt::format("{}: {}", what, one_line(reason.what())));
}

std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 1000;
  std::string result;
  while (!text.empty() && result.size() < kMost) {
    // Keeps the message's quotes, which `printable` would escape.
    const std::size_t end = std::min(text.find_first_of("'\\\n\t"), text.size());
    result += printable(text.substr(0, end));
    text.remove_prefix(end);
    if (text.empty()) break;
    const bool is_space = text[0] == '\n' || text[0] == '\t';
    if (!is_space) result += text[0];
    if (is_space && !result.empty() && result.back() != ' ') result += ' ';
    text.remove_prefix(1);
  }
  if (!text.empty()) result += "...";
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace d5::onnx::detail
