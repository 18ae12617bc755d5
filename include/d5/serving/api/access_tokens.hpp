// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "d5/serving/http/http_message.hpp"

namespace d5 {

/// Who may ask a server for what: a file of tokens' digests with a role each. A token has 256
/// random bits, and is shown once, when it is made; the file cannot give it back.
///
/// Format: docs/reference/file_formats.md, "Tokens". Throws: IoError, FormatError.
class AccessTokens {
 public:
  struct Token {
    std::string name;  ///< whose it is, for people
    ServingRole role = ServingRole::view;
    std::string added;   ///< ISO 8601, UTC
    std::string sha256;  ///< of the token
    bool operator==(const Token&) const = default;
  };

  /// Of a file that must be there. What changes in it counts from the next question on.
  explicit AccessTokens(std::string file);

  /// Nothing for a token that the file does not hold. Thread safety: any number of threads.
  [[nodiscard]] std::optional<Token> find(const std::string& token) const;
  /// Likewise of what a caller says of itself, "Bearer TOKEN"; nothing for anything else.
  [[nodiscard]] std::optional<Token> told(const std::string& authorization) const;
  [[nodiscard]] std::vector<Token> list() const;

  /// Makes one, writes its digest to the file, which is made if it is not there, and returns it.
  /// Throws: ValueError for a name that the file has, or the role `anyone`.
  [[nodiscard]] static std::string add(const std::string& file, const std::string& name,
                                       ServingRole role);
  /// Throws: NotFound with the nearest name.
  static void remove(const std::string& file, const std::string& name);

 private:
  void read_if_changed() const;

  std::string file_;
  mutable std::mutex mutex_;
  mutable std::int64_t changed_ = 0;  ///< when the file did, ns
  mutable std::map<std::string, Token> by_digest_;
};

/// The file to use where none is named: `tokens.json` beside the usual database.
[[nodiscard]] std::string usual_tokens();

}  // namespace d5
