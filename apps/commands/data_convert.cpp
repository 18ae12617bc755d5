// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/container.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataConvertExamples =
    R"(  d5 data convert cifar-10 train.tfrecord
  d5 data convert cifar-10 test.tfrecord --part test
  d5 data convert imagenet:data=DIR train.tar --shards 1024
  d5 data convert train.tar train.npz --to npz:compression=deflate
  d5 data convert 'theirs-*.tar:format.fields=jpg,cls' mine.safetensors

The file's ending or --to chooses the format. 'd5 list containers' lists the formats, '... containers
NAME' their options. The data set 'container' reads such files:
  d5 data show train.tfrecord     d5 data verify train.tar     d5 data bench train.tar
  d5 data show container:train=train.tar:test=test.tar
and in a recipe: dataset: {name: container, train: train.tar, test: test.tar}

Files take their names once all are written: Ctrl-C leaves the old ones in place.)";

struct DataConvertOptions : app::OutputOptions {
  std::string source, destination, part = "train", to;
  ConvertOptions convert;
  std::vector<std::string> load;
};

int run_data_convert(const DataConvertOptions& options) {
  app::load(options.load);
  const EntryChoice container = entry_of_words("container", options.to);
  ConvertOptions how = options.convert;
  how.settings = container.settings;
  how.shows_progress = !options.quiet;
  how.interrupt = app::ctrl_c();
  const auto files = convert(*open_part(options.source, options.part, app::ctrl_c()),
                             container.name, options.destination, how);
  TextTable table({"file", "samples", "bytes", "sha256"});
  ContainerFile all;
  for (const auto& file : files) {
    table.add({file.path, std::to_string(file.samples), std::to_string(file.bytes), file.sha256});
    all.samples += file.samples;
    all.bytes += file.bytes;
  }
  app::print(table, options.format);
  if (!options.quiet) {
    app::say(fmt::format("{} samples, {} bytes in {} file{}", all.samples, all.bytes, files.size(),
                         files.size() == 1 ? "" : "s"));
  }
  return app::kPassed;
}

}  // namespace

void register_data_convert(app::Program& program) {
  auto options = std::make_shared<DataConvertOptions>();
  auto& command =
      program.add("data convert", "convert a data set to files of another format",
                  kDataConvertExamples, [options] { return run_data_convert(*options); });
  command
      .add_option("SOURCE", options->source,
                  "data set ('d5 list datasets') or a container's files, as NAME[:KEY=VALUE]...")
      ->required();
  command
      .add_option("FILE", options->destination,
                  "file to write; with --shards the name that the shards' names derive from")
      ->required();
  command.add_option("--part", options->part, "part of the data set")
      ->transform(app::one_of({{"train", "train"}, {"test", "test"}}))
      ->option_text("train|test");
  command
      .add_option("--to", options->to,
                  "format ('d5 list containers') with options; by default by FILE's ending")
      ->option_text("NAME[:KEY=VALUE]...");
  auto* const shards = command
                           .add_option("--shards", options->convert.shards,
                                       "number of files, called FILE-00000-of-N and so on")
                           ->transform(app::whole_number(1))
                           ->option_text("N");
  auto* const samples = command
                            .add_option("--shard-samples", options->convert.shard_samples,
                                        "maximum number of samples per file")
                            ->transform(app::whole_number(1))
                            ->option_text("N")
                            ->excludes(shards);
  command
      .add_option("--shard-bytes", options->convert.shard_bytes,
                  "size at which a file ends, such as 256MiB")
      ->transform(app::bytes())
      ->option_text("SIZE")
      ->excludes(shards)
      ->excludes(samples);
  command.add_option("--seed", options->convert.draw.seed, "seed of random preprocessing steps")
      ->transform(app::natural_number())
      ->option_text("N");
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
