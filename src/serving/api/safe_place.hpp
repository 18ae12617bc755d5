// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Protects servers that other machines reach: without tokens anyone may do everything, and without
/// TLS anyone between can read along. Throws: ValueError for an address that other machines reach
/// without tokens and TLS, and for a certificate without its key.
void expect_safe_place(const std::string& host, bool has_tokens, const std::string& certificate,
                       const std::string& key);

}  // namespace d5::detail
