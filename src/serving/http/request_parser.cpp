// SPDX-License-Identifier: Apache-2.0
#include "serving/http/request_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <limits>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

namespace beast = boost::beast;
namespace http = boost::beast::http;

/// A message as Beast parses it: strict about the end of a head, and the length of a body.
class RequestParser::Message {
 public:
  explicit Message(const HttpServerOptions& limits) {
    parser.header_limit(std::uint32_t(limits.most_head_bytes));
    // Which body is too long the address says, once the head is there.
    parser.body_limit(std::numeric_limits<std::uint64_t>::max());
    parser.eager(false);
  }
  /// Parses as much as possible, and removes it from `pending`.
  beast::error_code put(std::string& pending) {
    beast::error_code error;
    const std::size_t taken =
        parser.put(boost::asio::const_buffer(pending.data(), pending.size()), error);
    pending.erase(0, taken);
    return error == http::error::need_more ? beast::error_code() : error;
  }

  http::request_parser<http::string_body> parser;
};

namespace {

std::string own_text(beast::string_view view) { return {view.data(), view.size()}; }

RequestParser::End refused(int status, std::string_view detail) {
  return {HttpResponse::problem(status, detail)};
}

RequestParser::End refused(const beast::error_code& error, const HttpServerOptions& limits) {
  if (error == http::error::header_limit) {
    return refused(431, fmt::format("the head is longer than {} bytes", limits.most_head_bytes));
  }
  return refused(400, "this is not HTTP/1.1: " + error.message());
}

}  // namespace

RequestParser::RequestParser(ByteStream& stream, const HttpServerOptions& limits)
    : stream_(stream), limits_(limits) {}
RequestParser::~RequestParser() = default;

bool RequestParser::more(double deadline) {
  std::array<char, std::size_t{16} << 10> room{};
  const std::size_t count = stream_.read(room, deadline);
  pending_.append(room.data(), count);
  return count > 0;
}

std::optional<RequestParser::End> RequestParser::read_head(bool first) {
  message_ = std::make_unique<Message>(limits_);
  const double now = now_seconds();
  if (!first && pending_.empty() && !more(now + limits_.idle_seconds)) return End{};
  const double deadline = (first ? now : now_seconds()) + limits_.head_seconds;
  for (;;) {
    if (!pending_.empty()) {
      if (const auto error = message_->put(pending_)) return refused(error, limits_);
      if (message_->parser.is_header_done()) return {};
      if (pending_.size() > limits_.most_head_bytes) {
        return refused(http::make_error_code(http::error::header_limit), limits_);
      }
    }
    if (more(deadline)) continue;
    if (now_seconds() < deadline) return End{};
    return refused(408, fmt::format("the head was not there after {} s", limits_.head_seconds));
  }
}

void RequestParser::read_request(HttpRequest& request) const {
  const auto& head = message_->parser.get();
  request.method = own_text(head.method_string());
  for (const auto& field : head) {
    request.headers.add(own_text(field.name_string()), own_text(field.value()));
  }
  request.path = own_text(head.target());
  read_target(own_text(head.target()), request);
}

bool RequestParser::keeps_alive() const { return message_->parser.get().keep_alive(); }

bool RequestParser::knows_chunks() const {
  constexpr unsigned kVersion = 11;
  return message_->parser.get().version() >= kVersion;
}

bool RequestParser::has_body() const { return body_bytes() != 0; }

std::optional<std::uint64_t> RequestParser::body_bytes() const {
  if (message_->parser.chunked()) return {};
  const auto length = message_->parser.content_length();
  return length ? *length : 0;
}

bool RequestParser::expects_continue() const {
  return has_body() && beast::iequals(message_->parser.get()[http::field::expect], "100-continue");
}

std::optional<RequestParser::End> RequestParser::read_body(std::string& body, std::size_t most) {
  constexpr std::size_t kMostUnparsed = std::size_t{64} << 10;  // a chunk's head, a trailer
  auto& parser = message_->parser;
  parser.eager(true);
  parser.body_limit(most);
  const double deadline = now_seconds() + limits_.body_seconds;
  while (!parser.is_done()) {
    const std::size_t before = pending_.size();
    if (before > 0) {
      const auto error = message_->put(pending_);
      if (error == http::error::body_limit) {
        return refused(413, fmt::format("the body is longer than {} bytes", most));
      }
      if (error) return refused(error, limits_);
      if (parser.is_done()) break;
      if (pending_.size() > kMostUnparsed) return refused(400, "a chunk's head does not end");
      if (!pending_.empty() && pending_.size() < before) continue;
    }
    if (more(deadline)) continue;
    if (now_seconds() < deadline) return End{};
    return refused(408, fmt::format("the body was not there after {} s", limits_.body_seconds));
  }
  body = std::move(parser.get().body());
  return {};
}

}  // namespace d5::detail
