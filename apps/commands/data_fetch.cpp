// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "d5/level2_training/data/published_data.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataFetchExamples =
    R"(  d5 data fetch cifar-10          download to the user's cache, where the data set finds it
  d5 data fetch mnist --to DIR
  d5 data fetch mnist --mirror https://mirror.example.org/mnist/

Files that exist and are right are kept. An interrupted download resumes. Every file is checked.
Without a network connection the message names each file, its checksum, and where to put it.)";

struct DataFetchOptions : app::OutputOptions {
  std::string name, to, mirror;
};

int run_data_fetch(const DataFetchOptions& options) {
  const std::string folder = fetch_data(
      options.name, {.folder = options.to,
                     .mirror = options.mirror,
                     .interrupt = app::ctrl_c(),
                     .on_file = [&](const PublishedFile& file) {
                       if (options.quiet) return;
                       app::say(fmt::format("{} ({:.1f} MB)", file.name, double(file.bytes) / 1e6));
                     }});
  fmt::print("{}\n", printable(folder));
  return app::kPassed;
}

}  // namespace

void register_data_fetch(app::Program& program) {
  auto options = std::make_shared<DataFetchOptions>();
  auto& command = program.add("data fetch", "download a data set and verify its checksums",
                              kDataFetchExamples, [options] { return run_data_fetch(*options); });
  command.add_option("NAME", options->name, "data set ('d5 data list')")->required();
  command.add_option("--to", options->to, "folder for its files; by default the user's cache")
      ->option_text("DIR");
  command
      .add_option(
          "--mirror", options->mirror,
          "address to try first, which the files' names are appended to; https, http or file")
      ->option_text("URL");
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
