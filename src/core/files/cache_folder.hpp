// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace d5::detail {

/// Of what d5 keeps for this user and could make again: $XDG_CACHE_HOME/d5, or else ~/.cache/d5.
/// Empty where there is no home; nothing is made.
[[nodiscard]] std::filesystem::path user_cache();

/// $D5_CACHE_DIR, or else `user_cache`: where d5 keeps what it measured, and files by their digest.
/// Empty where there is neither; nothing is made.
[[nodiscard]] std::filesystem::path kept_folder();

/// The folder `part` of `user_cache`, made if it is not there, readable by the user alone.
/// Throws: IoError if it cannot be, or there is no home.
[[nodiscard]] std::string cache_folder(std::string_view part);

/// The file in which d5 keeps what it measured of what `words` describe: "peak-3f9ac2....json" in
/// $D5_CACHE_DIR, or else in `user_cache`. Empty where there is no such folder; nothing is made.
[[nodiscard]] std::filesystem::path measured_file(std::string_view kind, std::string_view words);
/// Replaces it as a whole, in a folder that is made if it is not there. Throws: IoError.
void keep_measured(const std::filesystem::path& file, std::string_view content);

}  // namespace d5::detail
