// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/batch_split.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

[[noreturn]] void refuse(std::string_view part) {
  throw ValueError(
      fmt::format("'{}' is not a list of micro-batches; expected FIRST..LAST=SIZE*COUNT+..., as "
                  "'conv1..pool5=64*3+32'",
                  printable(part)));
}

std::int64_t number_of(std::string_view text, std::string_view part) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) refuse(part);
  return number;
}

BatchSplit split_of(std::string_view part) {
  constexpr std::int64_t kMostPieces = 1 << 20;
  const auto equals = part.rfind('='), dots = part.substr(0, equals).find("..");
  if (equals == std::string_view::npos || dots == std::string_view::npos) refuse(part);
  BatchSplit split{.first = std::string(part.substr(0, dots)),
                   .last = std::string(part.substr(dots + 2, equals - dots - 2)),
                   .sizes = {}};
  for (const auto term : parts_of(part.substr(equals + 1), '+')) {
    const auto times = term.find('*');
    const std::int64_t size = number_of(term.substr(0, times), part);
    const std::int64_t count =
        times == std::string_view::npos ? 1 : number_of(term.substr(times + 1), part);
    if (count > kMostPieces) refuse(part);
    split.sizes.insert(split.sizes.end(), std::size_t(count), size);
  }
  return split;
}

}  // namespace

std::string to_words(const std::vector<BatchSplit>& splits) {
  std::string words;
  for (const auto& [first, last, sizes] : splits) {
    words += fmt::format("{}{}..{}=", words.empty() ? "" : ";", first, last);
    for (std::size_t i = 0; i < sizes.size();) {
      std::size_t end = i;
      while (end < sizes.size() && sizes[end] == sizes[i]) ++end;
      words += fmt::format("{}{}*{}", i == 0 ? "" : "+", sizes[i], end - i);
      i = end;
    }
  }
  return words;
}

std::vector<BatchSplit> batch_splits(const std::string& words) {
  std::vector<BatchSplit> splits;
  for (const auto part : parts_of(words, ';')) splits.push_back(split_of(part));
  return splits;
}

}  // namespace d5
