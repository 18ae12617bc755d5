// SPDX-License-Identifier: Apache-2.0
#include "serving/api/safe_place.hpp"

#include <fmt/format.h>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/serving/http/http_server.hpp"

namespace d5::detail {

void expect_safe_place(const std::string& host, bool has_tokens, const std::string& certificate,
                       const std::string& key) {
  if (certificate.empty() != key.empty()) {
    throw ValueError(fmt::format("TLS takes both a certificate ({}) and its key ({})",
                                 option_word("tls_cert"), option_word("tls_key")));
  }
  if (is_loopback(host)) return;
  std::string missing;
  if (!has_tokens) missing = fmt::format("tokens ({}, 'd5 token add')", option_word("tokens"));
  if (certificate.empty()) {
    missing += fmt::format("{}TLS ({} and {})", missing.empty() ? "" : ", and ",
                           option_word("tls_cert"), option_word("tls_key"));
  }
  if (missing.empty()) return;
  throw ValueError(fmt::format(
      "'{}' is reached from other machines, which takes {}; without them a server stays on "
      "127.0.0.1",
      printable(host), missing));
}

}  // namespace d5::detail
