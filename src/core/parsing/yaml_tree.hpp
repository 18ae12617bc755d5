// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace d5::detail {

struct YamlEntry;

/// A scalar, or a map or list of such nodes in the order of the file.
struct YamlNode {
  enum class Kind { scalar, map, list };
  int line = 0;    ///< line of its key, from 1
  int column = 0;  ///< column of its key, from 1
  Kind kind = Kind::scalar;
  bool quoted = false;  ///< whether the scalar stands in quotes
  std::string text;
  std::vector<YamlEntry> entries;

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_list() const { return kind == Kind::list; }

  [[nodiscard]] const YamlNode* find(const std::string& key) const;
};

/// A pair of a map, or an item of a list, whose keys are "0", "1", ...
struct YamlEntry {
  std::string key;
  YamlNode node;
};

struct YamlLimits {
  std::size_t bytes = std::size_t{64} << 10;
  std::size_t depth = 6;  ///< limit of nested maps and lists
  int nodes = 1000;
};

/// Parses a subset of YAML: one document of nested maps, lists and scalars. Anchors, aliases, tags,
/// duplicate keys and files beyond the limits are errors. Throws: FormatError with file, line and
/// column.
[[nodiscard]] YamlNode parse_yaml(const std::string& text, const std::string& file,
                                  const YamlLimits& limits = {});

}  // namespace d5::detail
