// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/serving/token_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kTokenListExamples =
    R"(  d5 token list                              names and roles
  d5 token list --tokens tokens.json --format csv)";

struct TokenListOptions : app::TokenOptions, app::OutputOptions {};

int run_token_list(const TokenListOptions& options) {
  TextTable table({"name", "role", "added"});
  for (const auto& token : AccessTokens(app::token_file(options)).list()) {
    table.add({token.name, std::string(name_of(token.role)), token.added});
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_token_list(app::Program& program) {
  auto options = std::make_shared<TokenListOptions>();
  auto& command = program.add("token list", "list a server's access tokens", kTokenListExamples,
                              [options] { return run_token_list(*options); });
  app::add_token_options(command, *options);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
