// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kModelAddExamples =
    R"(  d5 model add mine.yaml                      a model, with its files and the data sets of its claims
  d5 model add mine.onnx flowers/             a network and a folder of samples, as d5 describes them
  d5 model add mine.yaml --replace            in place of the one that the server has
  d5 eval run mine --dataset flowers --framework torch --server http://127.0.0.1:8500
                                              ... then evaluate it there, by its name

The server was started with --models; with tokens, this takes one of the role admin ($D5_TOKEN).)";

struct ModelAddOptions : app::OutputOptions {
  std::string server;
  std::vector<std::string> what;
  bool replace = false;
};

int run_model_add(const ModelAddOptions& options) {
  const ServingClient client = app::client_of(options.server);
  const auto say = [&](const std::string& line) {
    if (!options.quiet) app::say(line);
  };
  std::vector<OwnManifest> manifests;  // all are read before any is sent
  for (const std::string& word : options.what) {
    for (auto& manifest : own_manifests(word, app::ctrl_c())) {
      manifests.push_back(std::move(manifest));
    }
  }
  using enum ServingClient::Replace;
  for (const OwnManifest& manifest : manifests) {
    if (manifest.is_described && manifest.kind == "model") {
      say(
          fmt::format("{}: the steps before and behind the network are guesses; 'd5 net describe' "
                      "writes them, to be changed",
                      manifest.reference));
    }
    const bool is_new = client.keep(manifest, options.replace ? yes : no, say);
    say(fmt::format("{} {} {}", manifest.kind, manifest.reference,
                    is_new ? "is kept" : "was kept already"));
  }
  return app::kPassed;
}

}  // namespace

void register_model_add(app::Program& program) {
  auto options = std::make_shared<ModelAddOptions>();
  auto& command = program.add("model add", "send models and data sets of your own to a server",
                              kModelAddExamples, [options] { return run_model_add(*options); });
  command
      .add_option("WHAT", options->what,
                  "manifests of models or data sets, ONNX files, folders of samples")
      ->required();
  command.add_flag("--replace", options->replace, "replace what the server keeps under the name");
  app::add_server_option(command, options->server);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
