// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "d5/serving/http/http_server.hpp"
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

/// How an answer goes over the wire.
struct ResponseForm {
  enum class Body { sent, left_out } body = Body::sent;         ///< a HEAD leaves it out
  enum class After { next, end } after = After::next;           ///< the connection goes on, or ends
  enum class Stream { chunks, plain } stream = Stream::chunks;  ///< HTTP/1.0 knows no chunks
};
/// All of an answer but its stream.
[[nodiscard]] std::string response_text(const HttpResponse& response, const ResponseForm& form);

/// Of ASCII, whatever the locale is.
[[nodiscard]] constexpr char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string small_letters(std::string text);

/// Whether a `Host` line names this server: an address in digits, which no other's name was
/// pointed at, or one of `names`.
[[nodiscard]] bool is_own_host(const std::string& host, const std::set<std::string>& names);

}  // namespace d5::detail
