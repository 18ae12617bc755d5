// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <utility>

#include "serving/http/http_connection.hpp"

namespace d5::detail {
namespace {

/// Default headers of every answer: other sites may not frame, run or cache it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kUsualHeaders = {{
    {"Cache-Control", "no-store"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
}};

/// Removes line ends from values of foreign origin.
std::string header_value(const std::string& value) {
  std::string safe = value;
  std::ranges::replace_if(safe, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, ' ');
  return safe;
}

}  // namespace

std::string response_text(const HttpResponse& response, const ResponseForm& form) {
  const bool has_length =
      response.status >= 200 && response.status != 204 && response.status != 304;
  std::string text =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, http_reason(response.status));
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{}: {}\r\n", name, header_value(value));
  };
  add("Date", fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(std::time(nullptr))));
  for (const auto& [name, value] : response.headers.lines()) add(name, value);
  for (const auto& [name, value] : kUsualHeaders) {
    if (!response.headers.find(name)) add(name, std::string(value));
  }
  if (response.stream) {
    if (form.stream == ResponseForm::Stream::chunks) add("Transfer-Encoding", "chunked");
  } else if (has_length) {
    add("Content-Length", std::to_string(response.body.size()));
  }
  if (form.after == ResponseForm::After::end) add("Connection", "close");
  text += "\r\n";
  if (form.body == ResponseForm::Body::sent && has_length) text += response.body;
  return text;
}

}  // namespace d5::detail
