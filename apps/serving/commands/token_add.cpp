// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/token_options.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kTokenAddExamples =
    R"(  d5 token add --role run ci                  print a new token, once; the file keeps its digest alone
  d5 token add --role view page --tokens tokens.json
  d5 serve --tokens tokens.json)";

struct TokenAddOptions : app::TokenOptions {
  std::string name, role;
};

int run_token_add(const TokenAddOptions& options) {
  const std::string file = app::token_file(options);
  const std::string token = AccessTokens::add(file, options.name, serving_role(options.role));
  app::say(fmt::format("the digest is in '{}'; this is shown once:", printable(file)));
  fmt::print("{}\n", token);
  return app::kPassed;
}

}  // namespace

void register_token_add(app::Program& program) {
  auto options = std::make_shared<TokenAddOptions>();
  auto& command = program.add("token add", "create an access token for a server", kTokenAddExamples,
                              [options] { return run_token_add(*options); });
  command.add_option("NAME", options->name, "name of its owner")->required();
  command
      .add_option(
          "--role", options->role,
          "role: view reads; run submits evaluations, too; admin also sends results, as agents do")
      ->required()
      ->option_text("ROLE");
  app::add_token_options(command, *options);
}

}  // namespace d5::command
