// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// A scalar, or a map or list of such nodes in the order of the file.
struct YamlNode {
  enum class Kind { scalar, map, list };
  int line = 0;  ///< of its key, from 1
  Kind kind = Kind::scalar;
  std::string text;
  std::vector<std::pair<std::string, YamlNode>> entries;  ///< a list's keys are "0", "1", ...

  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  [[nodiscard]] bool is_list() const { return kind == Kind::list; }

  [[nodiscard]] const YamlNode* find(const std::string& key) const;
};

/// The part of YAML that d5 reads: one document of nested maps, lists and scalars. Anchors, aliases
/// and tags are refused, as are files above 64 KiB, maps and lists deeper than 6 or more than 1000
/// nodes, and a key given twice. Throws: FormatError with file and line.
[[nodiscard]] YamlNode parse_yaml(const std::string& text, const std::string& file);

}  // namespace d5::detail
