// SPDX-License-Identifier: Apache-2.0
// Input of a server's connection: heads, addresses, bodies in one piece and in chunks. The requests
// are the same, wherever the stream is cut.
#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "serving/http/request_parser.hpp"

namespace d5::fuzz {
namespace {

const std::vector<std::string>& sound() {
  static const std::vector<std::string> requests = {
      "GET /v1/jobs?state=queued&limit=5&cursor=a%20b+c HTTP/1.1\r\nHost: localhost:8500\r\n"
      "Accept: text/html, */*;q=0.8\r\nLast-Event-ID: 7\r\n\r\n",
      "POST /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "Content-Length: 17\r\nExpect: 100-continue\r\n\r\n{\"manifest\": \"x\"}",
      "POST /v2/models/%C3%A4/infer HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n"
      "Inference-Header-Content-Length: 2\r\n\r\n2;a=b\r\n{}\r\n10\r\n0123456789abcdef\r\n0\r\n"
      "Trailer: x\r\n\r\n",
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nDELETE /v1/jobs/1 HTTP/1.1\r\nHost: a\r\n"
      "Connection: close\r\n\r\n"};
  return requests;
}

/// Bytes that come in pieces of `most`.
class Pieces final : public d5::detail::ByteStream {
 public:
  Pieces(std::string_view bytes, std::size_t most) : bytes_(bytes), most_(most) {}
  std::size_t read(std::span<char> room, double /*deadline*/) override {
    const std::size_t count = std::min({bytes_.size(), room.size(), most_});
    std::memcpy(room.data(), bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }
  bool write(std::string_view /*bytes*/, double /*seconds*/) override { return true; }
  void end_writing() override {}
  bool is_gone() override { return false; }

 private:
  std::string_view bytes_;
  std::size_t most_;
};

/// All requests as a text, without the details of their end: a client that leaves in the middle of
/// one may receive the reason of a refusal, or nothing.
std::string told(const std::string& bytes, std::size_t most) {
  const HttpServerOptions limits{.most_head_bytes = 512, .most_body_bytes = 100};
  Pieces stream(bytes, most);
  d5::detail::RequestParser parser(stream, limits);
  std::string text;
  for (bool first = true;; first = false) {
    if (parser.read_head(first)) return text;
    HttpRequest request;
    try {
      parser.read_request(request);
      text += request.method + " " + request.path;
      for (const auto& [name, value] : request.query) text += "?" + name + "=" + value;
      for (const auto& [name, value] : request.headers.lines()) text += "|" + name + ":" + value;
    } catch (const FormatError&) {
      text += "no address";
    }
    text += fmt::format(" {}{}", parser.keeps_alive(), parser.expects_continue());
    std::string body;
    if (parser.has_body()) {
      if (parser.read_body(body, limits.most_body_bytes)) return text;
    }
    text += "|" + body + "\n";
  }
}

}  // namespace

std::string name() { return "http_request"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  std::string bytes = pick(random, sound());
  if (one_in(random, 3)) bytes += pick(random, sound());
  if (one_in(random, 8)) bytes.insert(bytes.find("\r\n") + 2, "X: " + some_text(random) + "\r\n");
  for (auto changes = random.below(4); changes > 0; --changes) {
    bytes = one_in(random, 3) ? with_other_number(bytes, random) : with_damage(bytes, random);
  }
  return bytes;
}

std::string run_case(const std::string& bytes) {
  const std::string whole = told(bytes, bytes.size() + 1);
  for (const std::size_t most : {1, 2, 7, 100}) {
    if (const std::string cut = told(bytes, most); cut != whole) {
      return fmt::format("'{}', but in pieces of {} '{}'", whole, most, cut);
    }
  }
  return {};
}

}  // namespace d5::fuzz
