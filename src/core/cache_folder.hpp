// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// The folder `part` of what d5 keeps for this user and could make again: in $XDG_CACHE_HOME/d5, or
/// else ~/.cache/d5. It is made if it is not there, readable by the user alone.
/// Throws: IoError if it cannot be, or there is no home.
[[nodiscard]] std::string cache_folder(std::string_view part);

}  // namespace d5::detail
