// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace d5::detail {

/// A scalar, or a map of such nodes in the order of the file.
struct YamlNode {
  int line = 0;  ///< of its key, from 1
  bool is_map = false;
  std::string text;
  std::vector<std::pair<std::string, YamlNode>> entries;

  [[nodiscard]] const YamlNode* find(const std::string& key) const;
};

/// The part of YAML that d5 reads: one document of nested maps and scalars. Lists,
/// anchors, aliases and tags are refused, as are files above 64 KiB, maps deeper than 6 or more
/// than 1000 nodes, and a key given twice. Throws: FormatError with file and line.
[[nodiscard]] YamlNode parse_yaml(const std::string& text, const std::string& file);

}  // namespace d5::detail
