// SPDX-License-Identifier: Apache-2.0
#include "serving/http/http_connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/http/request_parser.hpp"

namespace d5::detail {
namespace {

/// Ends a connection after an answer, and drains its input for a while: closing it with unread
/// bytes resets it, and loses what was sent before.
void drain(ByteStream& stream) {
  constexpr double kSeconds = 5;
  constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  std::array<char, std::size_t{16} << 10> room{};
  stream.end_writing();
  const double deadline = now_seconds() + kSeconds;
  for (std::size_t bytes = 0; bytes < kMostBytes;) {
    const std::size_t count = stream.read(room, deadline);
    if (count == 0) return;
    bytes += count;
  }
}

/// Sends pieces as they come. Returns false if the other side disconnected.
bool send_stream(ByteStream& stream, const HttpResponse& response, ResponseForm::Stream form,
                 const ConnectionContext& context) {
  const bool chunks = form == ResponseForm::Stream::chunks;
  while (!context.stop.stop_requested()) {
    std::optional<std::string> piece;
    try {
      piece = response.stream();
    } catch (const std::exception&) {  // the head is sent, so an error can only break off
      return false;
    }
    if (!piece) return chunks && stream.write("0\r\n\r\n", context.options.send_seconds);
    if (piece->empty()) {
      if (stream.is_gone()) return false;
      continue;
    }
    if (chunks) piece = fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece);
    if (!stream.write(*piece, context.options.send_seconds)) return false;
  }
  return false;
}

/// Calls `refuse` and `answer`, and turns exceptions into answers.
template <class Call>
auto guarded(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& error) {
    return http_problem_of(error);
  }
}

class Exchange {
 public:
  Exchange(ByteStream& stream, RequestParser& parser, const ConnectionContext& context)
      : stream_(stream), parser_(parser), context_(context) {}

  /// Serves one request. Returns false if the connection ends.
  bool run(bool first) {
    if (const auto end = parser_.read_head(first)) return finish(*end);
    std::optional<HttpResponse> refusal = guarded([&]() -> std::optional<HttpResponse> {
      parser_.read_request(request_);
      return refuse();
    });
    if (refusal) {
      const bool goes_on = parser_.keeps_alive() && !parser_.has_body();
      if (send(std::move(*refusal), goes_on)) return true;
      drain(stream_);
      return false;
    }
    if (parser_.expects_continue() &&
        !stream_.write("HTTP/1.1 100 Continue\r\n\r\n", context_.options.send_seconds)) {
      return false;
    }
    if (const auto end = parser_.read_body(request_.body, most_body_bytes_)) return finish(*end);
    HttpResponse answer = guarded([&] { return context_.handler.answer(request_); });
    return send(std::move(answer), parser_.keeps_alive() && !context_.stop.stop_requested());
  }

 private:
  std::optional<HttpResponse> refuse() {
    request_.peer = context_.peer;
    request_.stop = context_.stop;
    request_.is_gone = [this] { return stream_.is_gone(); };
    const auto hosts = std::ranges::count_if(request_.headers.lines(), [](const auto& line) {
      return small_letters(line.first) == "host";
    });
    if (hosts != 1) return HttpResponse::problem(400, "a request has one Host line");
    const std::string host = request_.headers.at("host");
    if (!is_own_host(host, context_.names)) {
      return HttpResponse::problem(421, fmt::format("this server is not '{}'; {} tells it a name",
                                                    printable(host), option_word("name")));
    }
    if (auto refusal = context_.handler.refuse(request_)) return refusal;
    return refuse_body();
  }

  std::optional<HttpResponse> refuse_body() {
    most_body_bytes_ = context_.options.most_body_bytes;
    const auto length = parser_.body_bytes();
    if (length == 0) return {};
    const std::string encoding = request_.headers.at("content-encoding");
    if (!encoding.empty() && small_letters(encoding) != "identity") {
      auto refusal = HttpResponse::problem(
          415, fmt::format("the body's Content-Encoding is '{}', expected identity: send it as it "
                           "is",
                           printable(encoding)));
      refusal.headers.add("Accept-Encoding", "identity");
      return refusal;
    }
    if (length && *length <= most_body_bytes_) return {};
    most_body_bytes_ = context_.handler.most_body_bytes(request_, most_body_bytes_);
    if (!length || *length <= most_body_bytes_) return {};
    return HttpResponse::problem(413, fmt::format("the body is {} bytes long, at most {} are taken",
                                                  *length, most_body_bytes_));
  }

  bool finish(const RequestParser::End& end) {
    if (!end.answer) return false;
    (void)send(*end.answer, false);
    drain(stream_);
    return false;
  }

  bool send(HttpResponse response, bool goes_on) {
    constexpr int kFirstError = 400;
    if (response.status >= kFirstError) {
      response = context_.handler.error_form(request_, std::move(response));
    }
    ResponseForm form;
    if (request_.method == "HEAD") form.body = ResponseForm::Body::left_out;
    if (!parser_.knows_chunks()) form.stream = ResponseForm::Stream::plain;
    const bool ends_plainly = response.stream && form.stream == ResponseForm::Stream::plain;
    goes_on = goes_on && !ends_plainly;
    if (!goes_on) form.after = ResponseForm::After::end;
    if (!stream_.write(response_text(response, form), context_.options.send_seconds)) return false;
    if (!response.stream || form.body == ResponseForm::Body::left_out) return goes_on;
    return send_stream(stream_, response, form.stream, context_) && goes_on;
  }

  ByteStream& stream_;
  RequestParser& parser_;
  const ConnectionContext& context_;
  HttpRequest request_;
  std::size_t most_body_bytes_ = 0;
};

}  // namespace

std::string small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), small_letter);
  return text;
}

bool is_own_host(const std::string& host, const std::set<std::string>& names) {
  std::string name = small_letters(host);
  const std::size_t bracket = name.rfind(']');
  const std::size_t colon = name.rfind(':');
  if (colon != name.npos && (bracket == name.npos || colon > bracket)) name.resize(colon);
  if (names.contains(name)) return true;
  in6_addr address{};
  if (name.starts_with('[') && name.ends_with(']')) {
    return inet_pton(AF_INET6, name.substr(1, name.size() - 2).c_str(), &address) == 1;
  }
  return inet_pton(AF_INET, name.c_str(), &address) == 1;
}

void serve_connection(ByteStream& stream, const ConnectionContext& context) {
  RequestParser parser(stream, context.options);
  bool first = true;
  while (!context.stop.stop_requested() && Exchange(stream, parser, context).run(first)) {
    first = false;
  }
}

}  // namespace d5::detail
