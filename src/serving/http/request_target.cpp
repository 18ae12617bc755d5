// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/errors/utf8.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/http/request_parser.hpp"

namespace d5::detail {
namespace {

[[noreturn]] void fail_target(std::string_view target, const char* expected) {
  throw FormatError(fmt::format("the address '{}': expected {}", printable(target), expected));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_plain_text(std::string_view text) {
  return first_unprintable(text) == text.npos && text.find_first_of("\t\n\r") == text.npos;
}

enum class Plus { itself, space };

std::string decoded(std::string_view text, Plus plus) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' && plus == Plus::space ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) fail_target(text, "two hexadecimal digits after every %");
    plain += char(high * 16 + low);
    i += 2;
  }
  if (!is_plain_text(plain)) fail_target(text, "UTF-8 without control characters");
  return plain;
}

/// Calls `part` with the text between separators.
template <class Part>
void split(std::string_view text, char separator, const Part& part) {
  for (;;) {
    const std::size_t end = text.find(separator);
    part(text.substr(0, end));
    if (end == text.npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void read_target(std::string_view target, HttpRequest& request) {
  if (!target.starts_with('/')) fail_target(target, "one that begins with /");
  const std::size_t question = target.find('?');
  const std::string_view path = target.substr(0, question);
  std::string plain;
  split(path.substr(1), '/', [&](std::string_view part) {
    request.segments.push_back(decoded(part, Plus::itself));
    plain += "/" + request.segments.back();
  });
  request.path = plain;
  if (question == target.npos) return;
  split(target.substr(question + 1), '&', [&](std::string_view pair) {
    if (pair.empty()) return;
    const std::size_t equals = pair.find('=');
    const std::string_view value = equals == pair.npos ? "" : pair.substr(equals + 1);
    const auto [place, fresh] = request.query.emplace(decoded(pair.substr(0, equals), Plus::space),
                                                      decoded(value, Plus::space));
    if (!fresh) fail_target(pair, "each name once");
  });
}

}  // namespace d5::detail
