// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Whoever reaches a server may do everything, and everyone between hears all that is said.
/// Throws: ValueError for an address that is reached from other machines without tokens and TLS,
/// and for a certificate without its key.
void expect_safe_place(const std::string& host, bool has_tokens, const std::string& certificate,
                       const std::string& key);

}  // namespace d5::detail
