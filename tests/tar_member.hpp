// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5::testing {

/// A member of a tar archive (POSIX.1-1988, ustar), padded to whole blocks; `type` is its typeflag:
/// '0' a file, 'x' what POSIX.1-2001 says of the next. 1,024 zeros end an archive.
inline std::string tar_member(const std::string& name, const std::string& content,
                              char type = '0') {
  std::string head(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    head.replace(at, text.size(), text);
  };
  const auto octal = [](std::size_t value, int digits) {
    std::string text(std::size_t(digits), '0');
    for (auto at = text.rbegin(); value > 0; value /= 8) *at++ = char('0' + value % 8);
    return text;
  };
  put(0, name);
  put(100, "0000644");
  put(124, octal(content.size(), 11));
  put(156, std::string(1, type));
  put(257, "ustar");
  put(263, "00");
  put(148, "        ");
  std::size_t sum = 0;
  for (const char byte : head) sum += static_cast<unsigned char>(byte);
  put(148, octal(sum, 6) + '\0' + ' ');
  return head + content + std::string((512 - content.size() % 512) % 512, '\0');
}

}  // namespace d5::testing
