// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::command {
namespace {

constexpr const char* kArtefactFetchExamples =
    R"(  d5 artefact fetch https://example.org/lenet.onnx --sha256 9f86d0...
  d5 artefact fetch URL MIRROR --sha256 HEX --name lenet.onnx
                                  several addresses of one file, tried in order
  d5 artefact fetch --sha256 HEX  a file that is kept already: verify it and print its path
  d5 artefact fetch URL --sha256 HEX --unpack
                                  unpack an archive and print its folder

Prints the path. Several processes that need the same file share one download. An interrupted
download resumes. $D5_CACHE_DIR is the folder of the cache, $D5_ARTEFACT_QUOTA its size limit.)";

struct ArtefactFetchOptions {
  Asset asset;
  std::string bytes;
  bool unpack = false;
};

int run_artefact_fetch(const ArtefactFetchOptions& options) {
  Asset asset = options.asset;
  if (asset.name.empty() && !asset.urls.empty()) {
    asset.name = std::filesystem::path(asset.urls.front()).filename().string();
  }
  if (!options.bytes.empty()) asset.bytes = byte_count(options.bytes);
  const ArtefactStore store;
  std::string path = store.fetch(asset, app::ctrl_c());
  if (options.unpack) path = store.unpack(asset.sha256, std::uint64_t{1} << 36, app::ctrl_c());
  fmt::print("{}\n", printable(path));
  return app::kPassed;
}

}  // namespace

void register_artefact_fetch(app::Program& program) {
  auto options = std::make_shared<ArtefactFetchOptions>();
  auto& command =
      program.add("artefact fetch", "download a file by its digest, unless it is kept already",
                  kArtefactFetchExamples, [options] { return run_artefact_fetch(*options); });
  command.add_option("URL", options->asset.urls, "addresses of the file: https, http or file");
  command.add_option("--sha256", options->asset.sha256, "digest of the file")
      ->option_text("HEX")
      ->required();
  command
      .add_option("--name", options->asset.name,
                  "name of the file; by default the end of its address")
      ->option_text("NAME");
  command.add_option("--bytes", options->bytes, "expected size of the file")
      ->transform(app::bytes())
      ->option_text("N");
  command.add_flag("--unpack", options->unpack, "unpack an archive (tar, zip) into a folder");
}

}  // namespace d5::command
