// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/files/artefact_store.hpp"

namespace d5::command {
namespace {

constexpr const char* kArtefactAddExamples =
    R"(  d5 artefact add lenet.onnx
  d5 artefact add *.onnx --format json      digests and sizes, as a manifest needs them)";

struct ArtefactAddOptions : app::OutputOptions {
  std::vector<std::string> files;
};

int run_artefact_add(const ArtefactAddOptions& options) {
  TextTable table({"name", "sha256", {"bytes", TextTable::Align::right}});
  const ArtefactStore store;
  for (const auto& file : options.files) {
    const Asset asset = store.add(file, app::ctrl_c());
    table.add({asset.name, asset.sha256, std::to_string(asset.bytes)});
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_artefact_add(app::Program& program) {
  auto options = std::make_shared<ArtefactAddOptions>();
  auto& command =
      program.add("artefact add", "keep a copy of a file under its digest", kArtefactAddExamples,
                  [options] { return run_artefact_add(*options); });
  command.add_option("FILE", options->files, "file to keep")->required();
  app::add_format_options(command, *options);
}

}  // namespace d5::command
