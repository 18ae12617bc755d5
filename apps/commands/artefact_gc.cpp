// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::command {
namespace {

constexpr const char* kArtefactGcExamples =
    R"(  d5 artefact gc --quota 20GB                   remove the least recently used first
  d5 artefact gc --quota 0 --keep 9f86d0...,...  remove all but these

Abandoned partial downloads are removed, too. A hard link elsewhere, as 'd5 data fetch' makes, keeps
its file there.)";

struct ArtefactGcOptions : app::OutputOptions {
  std::string quota;
  std::vector<std::string> keep;
};

int run_artefact_gc(const ArtefactGcOptions& options) {
  for (const auto& digest : options.keep) check_digest(digest, "--keep");
  const std::uint64_t most = options.quota == "0" ? 0 : byte_count(options.quota);
  TextTable table({"name", "sha256", {"bytes", TextTable::Align::right}});
  std::uint64_t total = 0;
  for (const auto& asset : ArtefactStore().collect(most, options.keep)) {
    table.add({asset.name, asset.sha256, std::to_string(asset.bytes)});
    total += asset.bytes;
  }
  app::print(table, options.format);
  if (!options.quiet) app::say(fmt::format("{} removed", byte_words(total)));
  return app::kPassed;
}

}  // namespace

void register_artefact_gc(app::Program& program) {
  auto options = std::make_shared<ArtefactGcOptions>();
  auto& command =
      program.add("artefact gc", "remove the least recently used artefacts, down to a quota",
                  kArtefactGcExamples, [options] { return run_artefact_gc(*options); });
  command.add_option("--quota", options->quota, "size that the cache may keep, as 20GB")
      ->option_text("BYTES")
      ->required();
  command.add_option("--keep", options->keep, "digests of artefacts to keep in any case")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("HEX,...");
  app::add_format_options(command, *options);
}

}  // namespace d5::command
