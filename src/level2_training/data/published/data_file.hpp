// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Path of `folder`/`name`.gz, or of `name` beside it. Throws: IoError if neither is a file.
[[nodiscard]] std::string data_file(const std::string& folder, const std::string& name);

}  // namespace d5::detail
