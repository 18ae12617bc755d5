// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "d5/serving/http/http_message.hpp"
#include "d5/serving/http/http_server.hpp"
#include "serving/http/byte_stream.hpp"

namespace d5::detail {

/// Reads the requests of a connection one after the other, within limits.
class RequestParser {
 public:
  RequestParser(ByteStream& stream, const HttpServerOptions& limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// Why nothing more can be read; without an answer the other side is done.
  struct End {
    std::optional<HttpResponse> answer = {};
  };
  /// Reads the next head; `first`: it is the connection's first.
  [[nodiscard]] std::optional<End> read_head(bool first);
  /// Reads the head into `request`, whose path is the whole address if that is invalid.
  /// Throws: FormatError for an invalid address.
  void read_request(HttpRequest& request) const;
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] bool knows_chunks() const;  ///< HTTP/1.0 does not
  [[nodiscard]] bool has_body() const;
  /// The body's length; nullopt if its end shows it (chunks).
  [[nodiscard]] std::optional<std::uint64_t> body_bytes() const;
  /// Whether the client waits for "100 Continue" before it sends its body.
  [[nodiscard]] bool expects_continue() const;
  /// Returns nullopt if all of it is in `body`; `most`: the largest number of bytes.
  [[nodiscard]] std::optional<End> read_body(std::string& body, std::size_t most);

 private:
  class Message;
  [[nodiscard]] bool more(double deadline);

  ByteStream& stream_;
  const HttpServerOptions& limits_;
  std::string pending_;  ///< read, and not parsed
  std::unique_ptr<Message> message_;
};

/// Splits an address into path, segments and query. Throws: FormatError.
void read_target(std::string_view target, HttpRequest& request);

}  // namespace d5::detail
