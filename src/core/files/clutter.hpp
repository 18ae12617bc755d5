// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>

namespace d5::detail {

/// Whether a name is that of a file or folder which desktops, notebooks and version control leave
/// beside data: hidden files (".ipynb_checkpoints", "._dog.jpg"), "__MACOSX", "Thumbs.db",
/// "desktop.ini" and similar names, case-insensitively. All readers of folders skip these.
[[nodiscard]] inline bool is_clutter(std::string name) {
  // Written by Finder, Explorer, shared file systems, and Synology (thumbnails).
  constexpr std::array<std::string_view, 8> kNames{
      "__macosx",     "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db",
      "$recycle.bin", "@eadir",    "desktop.ini", "system volume information"};
  if (name.starts_with('.')) return true;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kNames, name) != kNames.end();
}

/// Whether a component of a relative path is clutter; "." and ".." are not.
[[nodiscard]] inline bool has_clutter(const std::filesystem::path& path) {
  return std::ranges::any_of(path, [](const std::filesystem::path& part) {
    return part != "." && part != ".." && is_clutter(part.string());
  });
}

}  // namespace d5::detail
