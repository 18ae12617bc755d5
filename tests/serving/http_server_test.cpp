// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/http/http_server.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>

#include "d5/core/errors/error.hpp"
#include "tests/serving/raw_client.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using testing::raw_answer;
using testing::RawClient;

/// Tells what it was asked.
class Echo final : public HttpHandler {
 public:
  std::optional<HttpResponse> refuse(HttpRequest& head) override {
    if (head.path == "/refused") return HttpResponse::problem(403, "not this");
    return {};
  }
  HttpResponse answer(const HttpRequest& request) override {
    if (request.path == "/throws") throw NotFound("there is no 'x'");
    if (request.path == "/stream") {
      auto pieces =
          std::make_shared<std::deque<std::string>>(std::deque<std::string>{"a", "", "bc"});
      return {.stream = [pieces]() -> std::optional<std::string> {
        if (pieces->empty()) return std::nullopt;
        std::string piece = pieces->front();
        pieces->pop_front();
        return piece;
      }};
    }
    if (request.path == "/endless") return {.stream = [] { return std::string("."); }};
    std::string text = request.method + " " + request.path;
    for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
    return {.headers = {{"X-Told", "one\r\nX-Smuggled: two"}}, .body = text + " " + request.body};
  }
};

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
}

TEST_CASE("a request is read, and its answer written") {
  Echo echo;
  const HttpServer server(echo, {});
  const int port = server.port();
  CHECK(server.address() == "http://127.0.0.1:" + std::to_string(port));

  const std::string answer = raw_answer(port, get("/a%20b/c?x=1+2&y=%C3%A4"));
  CHECK_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(answer, Contains("\r\n\r\nGET /a b/c x=1 2 y=\u00e4 "));
  CHECK_THAT(answer, Contains("\r\nContent-Security-Policy: default-src 'none'"));
  CHECK_THAT(answer, Contains("\r\nX-Content-Type-Options: nosniff\r\n"));
  CHECK_THAT(answer, Contains("\r\nX-Told: one  X-Smuggled: two\r\n"));

  CHECK_THAT(raw_answer(port, get("/throws")), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  CHECK_THAT(raw_answer(port, get("/refused")), Contains("\"detail\":\"not this\""));

  SECTION("two on one connection, sent at once") {
    const std::string both =
        raw_answer(port, "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/2"));
    CHECK_THAT(both, Contains("GET /1 "));
    CHECK_THAT(both, Contains("GET /2 "));
  }
  SECTION("a body by its length, in chunks, and after a word") {
    CHECK_THAT(raw_answer(port,
                          "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                          "Connection: close\r\n\r\nabc"),
               Contains("POST / abc"));
    CHECK_THAT(raw_answer(port,
                          "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                          "Connection: close\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n"),
               Contains("POST / abc"));
    RawClient client(port);
    client.send(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
    CHECK_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue"));
    client.send("abc");
    CHECK_THAT(client.read_until("abc"), Contains("POST / abc"));
  }
  SECTION("a HEAD has no body, and HTTP/1.0 no second request") {
    const std::string head =
        raw_answer(port, "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK_THAT(head, Contains("\r\nContent-Length: 7\r\n"));
    CHECK_THAT(head, Catch::EndsWith("\r\n\r\n"));
    CHECK_THAT(raw_answer(port, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"),
               Contains("\r\nConnection: close\r\n"));
  }
  SECTION("a stream comes piece by piece, and to whom knows no chunks as it is") {
    CHECK_THAT(raw_answer(port, "GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n"),
               Catch::EndsWith("\r\n\r\nabc"));
    CHECK_THAT(raw_answer(port, get("/stream")),
               Contains("\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"));
  }
}

TEST_CASE("a malformed or too large request is refused") {
  Echo echo;
  const HttpServer server(echo,
                          {.most_head_bytes = 1000, .most_body_bytes = 100, .idle_seconds = 0.05});
  const int port = server.port();
  const std::string host = "Host: localhost\r\n";

  CHECK_THAT(raw_answer(port, "nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(raw_answer(port, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(raw_answer(port, "GET / HTTP/1.1\r\n" + host + host + "\r\n"),
             StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(raw_answer(port, "GET http://localhost/ HTTP/1.1\r\n" + host + "\r\n"),
             Contains("begins with /"));
  for (const char* target : {"/%", "/%4", "/%zz", "/%ff", "/%00", "/%0d%0a", "/?a=1&a=2"}) {
    INFO(target);
    CHECK_THAT(raw_answer(port, get(target)), StartsWith("HTTP/1.1 4"));
  }
  CHECK_THAT(raw_answer(port, "GET / HTTP/1.1\r\n" + host + "X: " + std::string(2000, 'x')),
             StartsWith("HTTP/1.1 431 "));
  const std::string post = "POST / HTTP/1.1\r\n" + host;
  CHECK_THAT(raw_answer(port, post + "Content-Length: 101\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  CHECK_THAT(raw_answer(port, post + "Transfer-Encoding: chunked\r\n\r\n40\r\n" +
                                  std::string(64, 'x') + "\r\n40\r\n" + std::string(64, 'x')),
             StartsWith("HTTP/1.1 413 "));
  // Two lengths: who reads one and who reads the other see different requests.
  CHECK_THAT(raw_answer(port, post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
             StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(raw_answer(port, post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                                     "0\r\n\r\n"),
             StartsWith("HTTP/1.1 400 "));
}

TEST_CASE("a client that sends a long body before it reads hears that it is refused") {
  Echo echo;
  const HttpServer server(echo, {.most_body_bytes = 1000});
  RawClient client(server.port());
  constexpr std::size_t kBytes = std::size_t{40} << 20;
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(kBytes) +
              "\r\n\r\n");
  CHECK(client.send(std::string(kBytes, 'x')));
  CHECK_THAT(client.read_all(), StartsWith("HTTP/1.1 413 ") && Contains("at most 1000"));
}

TEST_CASE("a body without an end is cut off, and the server lives on") {
  Echo echo;
  const HttpServer server(echo, {.most_body_bytes = 1000});
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "400\r\n" + std::string(1024, 'x') + "\r\n";
  for (int i = 0; i < 3; ++i) client.send(chunk);
  CHECK_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  CHECK_THAT(raw_answer(server.port(), get("/")), Contains("GET / "));
}

TEST_CASE("a head that takes its time is not waited for") {
  Echo echo;
  const HttpServer server(echo, {.head_seconds = 0.05, .body_seconds = 0.05});
  CHECK_THAT(raw_answer(server.port(), "GET / HT"), StartsWith("HTTP/1.1 408 "));
  CHECK_THAT(
      raw_answer(server.port(), "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na"),
      StartsWith("HTTP/1.1 408 "));
}

TEST_CASE("a name that is another's is refused: its page was pointed here") {
  Echo echo;
  const HttpServer server(echo, {.names = {"bench.example"}});
  const auto status_for = [&](const std::string& host) {
    return raw_answer(server.port(),
                      "GET / HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
        .substr(9, 3);
  };
  CHECK(status_for("localhost:80") == "200");
  CHECK(status_for("127.0.0.1") == "200");
  CHECK(status_for("[::1]:8500") == "200");
  CHECK(status_for("Bench.Example:1") == "200");
  CHECK(status_for("evil.example") == "421");
  CHECK(status_for("localhost.evil.example") == "421");
  CHECK(status_for("1.2.3.4.evil.example") == "421");
}

TEST_CASE("connections are bounded, and a server that stops ends them all") {
  Echo echo;
  HttpServer server(echo, {.most_connections = 2});
  RawClient idle(server.port()), streaming(server.port());
  idle.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  idle.read_until("GET / ");
  streaming.send(get("/endless"));
  streaming.read_until(".");
  CHECK_THAT(raw_answer(server.port(), get("/")), StartsWith("HTTP/1.1 503 "));
  server.stop();
  idle.read_all();
  streaming.read_all();
  CHECK_FALSE(is_loopback("0.0.0.0"));
  CHECK(is_loopback("127.0.0.2"));
}

TEST_CASE("a port that is taken, and an address of another machine, are said so") {
  Echo echo;
  const HttpServer server(echo, {});
  CHECK_THROWS_WITH(HttpServer(echo, {.port = server.port()}),
                    Contains("cannot listen at") && Contains("port 0"));
  CHECK_THROWS_AS(HttpServer(echo, {.host = "192.0.2.1"}), IoError);
  CHECK_THROWS_WITH(HttpServer(echo, {.certificate = "/nowhere.pem", .key = "/nowhere.pem"}),
                    Contains("certificate '/nowhere.pem'"));
}

}  // namespace
}  // namespace d5
