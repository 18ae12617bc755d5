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

/// Role of a caller; each includes the rights of those before it.
enum class ServingRole {
  anyone,  ///< see that the server is up, and its page, without data
  view,    ///< read everything
  run,     ///< submit evaluations and predictions, and cancel them
  admin    ///< send results, as agents do
};
[[nodiscard]] std::string_view name_of(ServingRole role);
/// Inverse of `name_of`. Throws: NotFound, with the nearest name.
[[nodiscard]] ServingRole serving_role(std::string_view name);

/// Header lines in order. Names are compared without regard to case.
class HttpHeaders {
 public:
  using Line = std::pair<std::string, std::string>;
  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<Line> lines) : lines_(lines) {}

  void add(std::string name, std::string value);
  /// The first value of that name; null if there is none.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// The same; empty if there is none.
  [[nodiscard]] std::string at(std::string_view name) const;
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;
};

/// An HTTP/1.1 request. Texts from the address are decoded, and UTF-8.
struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";                         ///< "/v1/jobs/3f9a"
  std::vector<std::string> segments = {};         ///< segments of the path: "v1", "jobs", "3f9a"
  std::map<std::string, std::string> query = {};  ///< "state" -> "queued"
  std::map<std::string, std::string> parameters = {};  ///< parameters of the route: "id" -> "3f9a"
  HttpHeaders headers = {};
  std::string body = {};
  std::string peer = {};  ///< address of the caller
  ServingRole role = ServingRole::anyone;
  std::string caller = {};  ///< name of the caller's token; empty: without one
  /// Ends long answers, because the server stops.
  std::stop_token stop = {};
  /// Whether the caller disconnected; on the thread that answers alone. Empty: nobody knows.
  std::function<bool()> is_gone = {};

  /// A value of `query`; empty if it is missing.
  [[nodiscard]] std::string asked(const std::string& name) const;
  /// A value of `parameters`. Throws: NotFound.
  [[nodiscard]] const std::string& parameter(const std::string& name) const;
};

/// An answer: a body, or a stream of pieces.
struct HttpResponse {
  int status = 200;
  HttpHeaders headers = {};
  std::string body = {};
  /// Instead of a body: called repeatedly on the connection's own thread, and may wait. Each piece
  /// is sent at once; nullopt ends the answer, and an empty piece keeps it open. The client may
  /// have disconnected: a piece that cannot be sent is the last one.
  std::function<std::optional<std::string>()> stream = {};

  /// `text` is JSON.
  [[nodiscard]] static HttpResponse json(std::string text, int status = 200);
  /// RFC 9457, "Problem Details for HTTP APIs": status, title, detail.
  [[nodiscard]] static HttpResponse problem(int status, std::string_view detail);
};

/// "Not Found" for 404.
[[nodiscard]] std::string_view http_reason(int status);

/// The status of an exception from a route: NotFound 404, other faults of the request 422,
/// Unsupported 501, Interrupted and CommunicationError 503, anything else 500.
[[nodiscard]] int http_status_of(const std::exception& error);
/// The exception as an answer: a problem with its message.
[[nodiscard]] HttpResponse http_problem_of(const std::exception& error);

}  // namespace d5
