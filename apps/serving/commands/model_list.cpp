// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kModelListExamples =
    R"(  d5 model list                               models and data sets of others that a server keeps
  d5 model list --server https://bench.example:8500 --format csv)";

struct ModelListOptions : app::OutputOptions {
  std::string server;
};

int run_model_list(const ModelListOptions& options) {
  const ServingClient client = app::client_of(options.server);
  TextTable table({"kind", "name", "version", "task", "summary"});
  for (const KeptEntry& entry : client.kept()) {
    table.add({entry.kind, entry.name, entry.version, entry.task, entry.summary});
  }
  table.drop_empty_columns();
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_model_list(app::Program& program) {
  auto options = std::make_shared<ModelListOptions>();
  auto& command = program.add("model list", "list models and data sets that a server keeps",
                              kModelListExamples, [options] { return run_model_list(*options); });
  app::add_server_option(command, options->server);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
