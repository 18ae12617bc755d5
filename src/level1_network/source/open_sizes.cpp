// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/open_sizes.hpp"

#include <fmt/format.h>

#include <charconv>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"

namespace d5 {

OpenSizes open_sizes(const std::vector<std::string>& words, std::int64_t batch) {
  OpenSizes sizes{.batch = batch};
  for (const auto& word : words) {
    const auto equals = word.rfind('=');  // names of dimensions may hold others
    std::int64_t size = 0;
    if (equals != std::string::npos) {
      const char* end = word.data() + word.size();
      const auto read = std::from_chars(word.data() + equals + 1, end, size);
      if (read.ec != std::errc{} || read.ptr != end) size = 0;
    }
    if (size < 1) {
      throw ValueError(
          fmt::format("'{}': expected NAME=SIZE with a positive size", printable(word)));
    }
    const std::string name = word.substr(0, equals);
    if (!sizes.by_name.emplace(name, size).second) {
      throw ValueError(fmt::format("'{}': '{}' has a size already; give it once", printable(word),
                                   printable(name)));
    }
  }
  return sizes;
}

std::string to_line(const OpenSizes& sizes) {
  CommandLine line;
  line.option("--batch", sizes.batch);
  for (const auto& [name, size] : sizes.by_name) {
    line.option("--dim", name + "=" + std::to_string(size));
  }
  return line.text();
}

void refuse_sizes(const OpenSizes& sizes, const std::string& model) {
  if (sizes.batch == 1 && sizes.by_name.empty()) return;
  throw ValueError(fmt::format("{} and {} are for inputs that d5 makes; '{}' brings its own",
                               option_word("batch"), option_word("dim"), printable(model)));
}

}  // namespace d5
