// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/container.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/subset.hpp"

namespace d5 {
namespace {

struct ContainerOptions : DatasetOptions {
  std::string train, test;
  EntryChoice format;

  void declare(OptionList& options) {
    options.add("train", train,
                "what 'd5 data convert' wrote, or somebody else: a file, a folder of files, a "
                "pattern such as 'train-*.tar', or the name whose shards they are");
    options.add("test", test, "the same of the test part; without, there is none");
    options.add("format", format, "else as the files' names end ('d5 list containers')",
                "container");
    DatasetOptions::declare(options);
  }
};

DatasetPair container_pair(const Interrupt& interrupt, const ContainerOptions& options) {
  if (options.train.empty()) {
    throw ValueError("dataset container: train=FILE is missing: what 'd5 data convert' wrote");
  }
  const auto part = [&](const std::string& path) -> std::shared_ptr<const Dataset> {
    if (path.empty()) return nullptr;
    return open_container(options.format.name, path, options.format.settings, interrupt);
  };
  return options.parts_of({part(options.train), part(options.test)});
}

}  // namespace

namespace dataset {

void register_container(Registry<DatasetEntry>& registry) {
  registry.add("container", DatasetEntry::with<ContainerOptions>(
                                "samples from files that 'd5 data convert' writes: TFRecord, tar, "
                                "safetensors, NumPy",
                                container_pair));
}

}  // namespace dataset
}  // namespace d5
