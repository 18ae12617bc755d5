// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/program.hpp"
#include "d5/evaluation/manifest/described_folder.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataDescribeExamples =
    R"(  d5 data describe $D5_DATA_DIR/flowers > flowers.yaml
                                  a folder of folders, one a class, whose names are the labels
  d5 eval lint flowers.yaml
  d5 eval run mine.yaml --dataset flowers.yaml

Fill in the task and the licence. The folder is searched below $D5_DATA_DIR, and in the cache's data.)";

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
      program.add("data describe", "a folder of samples as a data set's manifest, with digests",
                  kDataDescribeExamples, [options] { return run_data_describe(*options); });
  command.add_option("FOLDER", options->folder, "of files, in a folder for each class")->required();
  command.add_option("--name", options->name, "of the data set; else the folder's")
      ->option_text("NAME");
}

}  // namespace d5::command
