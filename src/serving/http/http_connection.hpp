// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <stop_token>
#include <string>

#include "d5/serving/http/http_server.hpp"
#include "serving/http/byte_stream.hpp"

namespace d5::detail {

/// State that connections share.
struct ConnectionContext {
  HttpHandler& handler;
  const HttpServerOptions& options;
  const std::set<std::string>& names;  ///< valid names in `Host`, in lower case
  std::string peer;
  std::stop_token stop;
};

/// Reads requests and writes answers until either side ends the connection.
void serve_connection(ByteStream& stream, const ConnectionContext& context);

/// How an answer is sent.
struct ResponseForm {
  enum class Body { sent, left_out } body = Body::sent;  ///< left out for a HEAD
  enum class After { next, end } after = After::next;    ///< the connection continues, or ends
  enum class Stream { chunks, plain } stream = Stream::chunks;  ///< HTTP/1.0 has no chunks
};
/// The text of an answer, without its stream.
[[nodiscard]] std::string response_text(const HttpResponse& response, const ResponseForm& form);

/// Lower case for ASCII, independent of the locale.
[[nodiscard]] constexpr char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
}
[[nodiscard]] std::string small_letters(std::string text);

/// Whether a `Host` line names this server: a numeric address, which DNS cannot redirect, or one of
/// `names`.
[[nodiscard]] bool is_own_host(const std::string& host, const std::set<std::string>& names);

}  // namespace d5::detail
