// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace d5::detail {

/// The user's cache folder, for data that can be made again: $XDG_CACHE_HOME/d5, or else
/// ~/.cache/d5. Empty without a home folder. Creates nothing.
[[nodiscard]] std::filesystem::path user_cache();

/// The folder for stored measurements and the artefact store: $D5_CACHE_DIR, or else `user_cache`.
/// Empty if there is neither. Creates nothing.
[[nodiscard]] std::filesystem::path kept_folder();

/// The folder `part` of `user_cache`, created if missing, readable by the user only. Throws:
/// IoError if it cannot be created, or without a home folder.
[[nodiscard]] std::string cache_folder(std::string_view part);

/// The file with stored measurements of the object that `words` describes: "peak-3f9ac2....json" in
/// $D5_CACHE_DIR, or else in `user_cache`. Empty without such a folder. Creates nothing.
[[nodiscard]] std::filesystem::path measured_file(std::string_view kind, std::string_view words);
/// Replaces the file atomically, and creates its folder if missing. Throws: IoError.
void keep_measured(const std::filesystem::path& file, std::string_view content);

}  // namespace d5::detail
