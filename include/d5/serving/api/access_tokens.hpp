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

/// Access control of a server: a file of tokens' digests, each with a role. A token has 256 random
/// bits, and is shown once, at its creation; the file does not contain it.
///
/// Format: docs/reference/file_formats.md, "Tokens". Throws: IoError, FormatError.
class AccessTokens {
 public:
  struct Token {
    std::string name;  ///< name of its owner
    ServingRole role = ServingRole::view;
    std::string added;   ///< ISO 8601, UTC
    std::string sha256;  ///< digest of the token
    bool operator==(const Token&) const = default;
  };

  /// Opens a file, which must exist. Changes of the file apply to the next request.
  explicit AccessTokens(std::string file);

  /// Returns nullopt for an unknown token. Thread safety: any number of threads.
  [[nodiscard]] std::optional<Token> find(const std::string& token) const;
  /// The same for a header value, "Bearer TOKEN"; nullopt for any other form.
  [[nodiscard]] std::optional<Token> told(const std::string& authorization) const;
  [[nodiscard]] std::vector<Token> list() const;

  /// Creates a token, adds its digest to the file, which is created if it is missing, and returns
  /// the token. Throws: ValueError for a name that exists, or the role `anyone`.
  [[nodiscard]] static std::string add(const std::string& file, const std::string& name,
                                       ServingRole role);
  /// Throws: NotFound with the nearest name.
  static void remove(const std::string& file, const std::string& name);

 private:
  void read_if_changed() const;

  std::string file_;
  mutable std::mutex mutex_;
  mutable std::int64_t changed_ = 0;  ///< time of the file's last change, ns
  mutable std::map<std::string, Token> by_digest_;
};

/// The default file: `tokens.json` beside the default database.
[[nodiscard]] std::string usual_tokens();

}  // namespace d5
