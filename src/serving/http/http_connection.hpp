// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "d5/serving/http_server.hpp"
#include "serving/http/byte_stream.hpp"

namespace d5::detail {

/// What a connection belongs to.
struct ConnectionContext {
  HttpHandler& handler;
  const HttpServerOptions& options;
  const std::set<std::string>& names;  ///< that `Host` may have, in small letters
  std::string peer;
  std::stop_token stop;
};

/// Reads requests and writes answers until either side ends it.
void serve_connection(ByteStream& stream, const ConnectionContext& context);

/// An answer as it goes over the wire, without its stream. `whole`: with its body, which a HEAD
/// leaves out.
[[nodiscard]] std::string response_text(const HttpResponse& response, bool whole, bool keeps_alive);

/// Of ASCII, whatever the locale is.
[[nodiscard]] std::string small_letters(std::string text);

/// Whether a `Host` line names this server: an address in digits, which no other's name was
/// pointed at, or one of `names`.
[[nodiscard]] bool is_own_host(const std::string& host, const std::set<std::string>& names);

}  // namespace d5::detail
