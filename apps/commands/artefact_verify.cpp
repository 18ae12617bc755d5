// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/files/artefact_store.hpp"

namespace d5::command {
namespace {

constexpr const char* kArtefactVerifyExamples =
    R"(  d5 artefact verify        recompute every digest; list what is damaged

Exit status 1 if a file is damaged. The next fetch downloads it again.)";

int run_artefact_verify(const app::OutputOptions& options) {
  const ArtefactStore store;
  TextTable table({"name", "sha256", "reason"});
  for (const auto& [asset, reason] : store.verify(app::ctrl_c())) {
    table.add({asset.name, asset.sha256, reason});
  }
  if (table.size() > 0 || !is_for_people(options.format)) app::print(table, options.format);
  if (!options.quiet) {
    app::say(fmt::format("{} of {} artefacts damaged", table.size(), store.list().size()));
  }
  return table.size() == 0 ? app::kPassed : app::kFailed;
}

}  // namespace

void register_artefact_verify(app::Program& program) {
  auto options = std::make_shared<app::OutputOptions>();
  auto& command =
      program.add("artefact verify", "check every artefact against its digest",
                  kArtefactVerifyExamples, [options] { return run_artefact_verify(*options); });
  app::add_format_options(command, *options);
}

}  // namespace d5::command
