// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/program.hpp"
#include "apps/serving/token_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kTokenRemoveExamples =
    R"(  d5 token remove ci                         a running server refuses it from now on)";

struct TokenRemoveOptions : app::TokenOptions {
  std::string name;
};

}  // namespace

void register_token_remove(app::Program& program) {
  auto options = std::make_shared<TokenRemoveOptions>();
  auto& command =
      program.add("token remove", "remove an access token", kTokenRemoveExamples, [options] {
        AccessTokens::remove(app::token_file(*options), options->name);
        return app::kPassed;
      });
  command.add_option("NAME", options->name, "name of its owner")->required();
  app::add_token_options(command, *options);
}

}  // namespace d5::command
