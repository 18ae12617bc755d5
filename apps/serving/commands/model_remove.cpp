// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/server_options.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kModelRemoveExamples =
    R"(  d5 model remove mine                        the model, and its files that no other one uses
  d5 model remove flowers --dataset           a data set)";

struct ModelRemoveOptions : app::OutputOptions {
  std::string server;
  std::vector<std::string> names;
  bool dataset = false;
};

int run_model_remove(const ModelRemoveOptions& options) {
  const ServingClient client = app::client_of(options.server);
  for (const std::string& name : options.names) {
    client.forget(options.dataset ? "dataset" : "model", name);
    if (!options.quiet) app::say(fmt::format("{} is removed", printable(name)));
  }
  return app::kPassed;
}

}  // namespace

void register_model_remove(app::Program& program) {
  auto options = std::make_shared<ModelRemoveOptions>();
  auto& command =
      program.add("model remove", "remove a model or a data set that a server keeps",
                  kModelRemoveExamples, [options] { return run_model_remove(*options); });
  command.add_option("NAME", options->names, "NAME or NAME@VERSION ('d5 model list')")->required();
  command.add_flag("--dataset", options->dataset, "remove data sets of these names");
  app::add_server_option(command, options->server);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
