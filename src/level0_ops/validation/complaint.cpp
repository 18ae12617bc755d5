// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/complaint.hpp"

#include <cctype>

namespace d5 {
namespace {

/// The message without names and numbers.
std::string essence_of(const std::string& message) {
  std::string essence;
  bool quoted = false;
  for (const char c : message) {
    if (c == '\'') quoted = !quoted;
    const bool is_word = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!quoted && is_word) essence += c;
  }
  return essence;
}

}  // namespace

bool is_same_complaint(const std::string& a, const std::string& b) {
  return essence_of(a) == essence_of(b);
}

}  // namespace d5
