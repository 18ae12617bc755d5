// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/program.hpp"
#include "apps/serving/token_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kTokenRemoveExamples =
    R"(  d5 token remove ci                         a server that runs refuses it from then on)";

struct TokenRemoveOptions : app::TokenOptions {
  std::string name;
};

}  // namespace

void register_token_remove(app::Program& program) {
  auto options = std::make_shared<TokenRemoveOptions>();
  auto& command = program.add("token remove", "take a token back", kTokenRemoveExamples, [options] {
    AccessTokens::remove(app::token_file(*options), options->name);
    return app::kPassed;
  });
  command.add_option("NAME", options->name, "whose it is")->required();
  app::add_token_options(command, *options);
}

}  // namespace d5::command
