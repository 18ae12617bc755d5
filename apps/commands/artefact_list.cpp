// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::command {
namespace {

constexpr const char* kArtefactListExamples =
    R"(  d5 artefact list                      most recently used first
  d5 artefact list --format json)";

int run_artefact_list(const app::OutputOptions& options) {
  using enum TextTable::Align;
  TextTable table({"name", "sha256", {"bytes", right}, "used", "from"});
  const ArtefactStore store;
  std::uint64_t total = 0;
  for (const auto& [asset, used] : store.list()) {
    total += asset.bytes;
    table.add({asset.name, asset.sha256, std::to_string(asset.bytes),
               fmt::format("{:%FT%TZ}", fmt::gmtime(used)),
               fmt::format("{}", fmt::join(asset.urls, " "))});
  }
  app::print(table, options.format);
  if (!options.quiet) {
    app::say(fmt::format("{} artefacts, {}, in {}", table.size(), byte_words(total),
                         printable(store.folder())));
  }
  return app::kPassed;
}

}  // namespace

void register_artefact_list(app::Program& program) {
  auto options = std::make_shared<app::OutputOptions>();
  auto& command =
      program.add("artefact list", "list the artefacts in the cache, with size and last use",
                  kArtefactListExamples, [options] { return run_artefact_list(*options); });
  app::add_format_options(command, *options);
}

}  // namespace d5::command
