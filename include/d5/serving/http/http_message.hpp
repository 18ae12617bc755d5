// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace d5 {

/// What whoever asks may do; each may do what those before it may.
enum class ServingRole {
  anyone,  ///< see that there is a server, and its page, which is empty
  view,    ///< look at everything
  run,     ///< ask for evaluations and predictions, and end them
  admin    ///< send results, as agents do
};
[[nodiscard]] std::string_view name_of(ServingRole role);
/// The inverse. Throws: NotFound, with the nearest name.
[[nodiscard]] ServingRole serving_role(std::string_view name);

/// Header lines in their order. Names are compared without regard to case.
class HttpHeaders {
 public:
  using Line = std::pair<std::string, std::string>;
  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Line> lines) : lines_(lines) {}

  void add(std::string name, std::string value);
  /// The first of that name; null if there is none.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Likewise; empty if there is none.
  [[nodiscard]] std::string at(std::string_view name) const;
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;
};

/// A request as it came over HTTP/1.1. Texts of the address are decoded, and UTF-8.
struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                              ///< "/v1/jobs/3f9a"
  std::vector<std::string> segments = {};              ///< of the path: "v1", "jobs", "3f9a"
  std::map<std::string, std::string> query = {};       ///< "state" -> "queued"
  std::map<std::string, std::string> parameters = {};  ///< of the route: "id" -> "3f9a"
  HttpHeaders headers = {};
  std::string body = {};
  std::string peer = {};  ///< address of whoever asks
  ServingRole role = ServingRole::anyone;
  std::string caller = {};  ///< the name of the token of whoever asks; empty: without one
  /// Asks long answers to end: the server stops.
  std::stop_token stop = {};

  /// Of `query`; empty if it is not there.
  [[nodiscard]] std::string asked(const std::string& name) const;
  /// Of `parameters`. Throws: NotFound.
  [[nodiscard]] const std::string& parameter(const std::string& name) const;
};

/// An answer: a body, or a stream of pieces.
struct HttpResponse {
  int status = 200;
  HttpHeaders headers = {};
  std::string body = {};
  /// Instead of a body: called again and again, on the connection's own thread, and may wait; what
  /// it returns is sent at once, and nothing ends the answer. An empty piece says that it is still
  /// there. Whoever asked may have gone: a piece that cannot be sent is the last one.
  std::function<std::optional<std::string>()> stream = {};

  /// `text` is JSON.
  [[nodiscard]] static HttpResponse json(std::string text, int status = 200);
  /// RFC 9457, "Problem Details for HTTP APIs": status, what it is called, what was wrong.
  [[nodiscard]] static HttpResponse problem(int status, std::string_view detail);
};

/// "Not Found" of 404.
[[nodiscard]] std::string_view http_reason(int status);

/// The status of an error out of a route: NotFound 404, what else is wrong with the request 422,
/// Unsupported 501, Interrupted and CommunicationError 503, anything else 500.
[[nodiscard]] int http_status_of(const std::exception& error);
/// Such an error as an answer, a problem with its words.
[[nodiscard]] HttpResponse http_problem_of(const std::exception& error);

}  // namespace d5
