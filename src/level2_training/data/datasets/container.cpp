// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/container.hpp"

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/subset.hpp"

namespace d5 {
namespace {

struct ContainerOptions : DatasetOptions {
  std::string train, test;
  EntryChoice format;

  void declare(OptionList& options) {
    options.add("train", train,
                "training part, from 'd5 data convert' or another program: a file, a folder of "
                "files, a pattern such as 'train-*.tar', or the common name of shards",
                detail::path_text());
    options.add("test", test, "test part, likewise; default: none", detail::path_text());
    options.add("format", format,
                "container format ('d5 list containers'); default: by file extension", "container");
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
                                "samples from container files, as 'd5 data convert' writes them: "
                                "TFRecord, tar, safetensors, NumPy",
                                container_pair));
}

}  // namespace dataset
}  // namespace d5
