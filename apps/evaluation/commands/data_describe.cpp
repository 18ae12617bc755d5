// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/program.hpp"
#include "d5/evaluation/manifest/described_folder.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataDescribeExamples =
    R"(  d5 data describe flowers > flowers.yaml
                                  one sub-folder per class, whose name is the label
  d5 eval lint flowers.yaml
  d5 eval run mine.yaml --dataset flowers.yaml

Fill in the task and the licence. A folder below the working directory is written relative to it, so
keep the manifest there; any other that is not in $D5_DATA_DIR is written whole.)";

struct DataDescribeOptions {
  std::string folder, name;
};

int run_data_describe(const DataDescribeOptions& options) {
  fmt::print("{}", described_folder(options.folder, options.name));
  return app::kPassed;
}

}  // namespace

void register_data_describe(app::Program& program) {
  auto options = std::make_shared<DataDescribeOptions>();
  auto& command =
      program.add("data describe", "write a data set's manifest, with digests, for a folder",
                  kDataDescribeExamples, [options] { return run_data_describe(*options); });
  command.add_option("FOLDER", options->folder, "folder with a sub-folder of files for each class")
      ->required();
  command.add_option("--name", options->name, "name of the data set; by default the folder's")
      ->option_text("NAME");
}

}  // namespace d5::command
