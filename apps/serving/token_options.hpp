// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "d5/serving/api/access_tokens.hpp"

namespace d5::app {

/// The file of tokens. The same in all commands that change or show them.
struct TokenOptions {
  std::string tokens;
};

inline void add_token_options(CLI::App& command, TokenOptions& options) {
  command
      .add_option("--tokens", options.tokens,
                  "file of the tokens; by default tokens.json in the user's data")
      ->option_text("FILE");
}

[[nodiscard]] inline std::string token_file(const TokenOptions& options) {
  return options.tokens.empty() ? usual_tokens() : options.tokens;
}

}  // namespace d5::app
