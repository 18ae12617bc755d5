// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// The style sheet and the script of a page.
[[nodiscard]] std::string page_style();
[[nodiscard]] std::string page_script();

}  // namespace d5::detail
