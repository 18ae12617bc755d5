// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset_summary.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataShowExamples =
    R"(  d5 data show mnist              fields, samples per class, the first samples
  d5 data show mnist:subset=sample --what classes --format csv
  d5 data show cifar-10 --part test --samples 10 --pictures DIR
  d5 data show "synthetic:fields=x float32 3x4 normal")";

enum class What { all, fields, classes, samples };

struct DataShowOptions : app::OutputOptions {
  std::string words, part = "train", pictures;
  What what = What::all;
  std::int64_t samples = 5;
  std::vector<std::string> load;
};

bool has_labels(const Dataset& dataset) {
  return std::ranges::any_of(dataset.fields(), [](const auto& field) {
    return field.name == "label" && field.desc.dtype == DType::int64 &&
           field.desc.shape.rank() == 0;
  });
}

int run_data_show(const DataShowOptions& options) {
  app::load(options.load);
  const auto part = open_part(options.words, options.part, app::ctrl_c());
  const bool all = options.what == What::all;
  if (all && !is_for_people(options.format)) {
    throw ValueError(
        "data show: a program's format holds one list; choose it, as in --what fields");
  }
  if (all) {
    app::print_wrapped(
        fmt::format("{}: {}\n\n", printable(part->name()), printable(part->description())));
  }
  if (all || options.what == What::fields) app::print(field_table(*part), options.format);
  if (all) fmt::print("\n");
  if (options.what == What::classes || (all && has_labels(*part))) {
    app::print(class_table(*part, "label"), options.format);
    if (all) fmt::print("\n");
  }
  if (all || options.what == What::samples) {
    app::print(sample_table(*part, options.samples), options.format);
  }
  if (!options.pictures.empty()) {
    const auto written = write_pictures(*part, options.samples, options.pictures, app::ctrl_c());
    if (!options.quiet) {
      app::say(fmt::format("{} pictures in '{}'", written, printable(options.pictures)));
    }
  }
  return app::kPassed;
}

}  // namespace

void register_data_show(app::Program& program) {
  auto options = std::make_shared<DataShowOptions>();
  auto& command = program.add("data show", "show a data set's fields, classes and first samples",
                              kDataShowExamples, [options] { return run_data_show(*options); });
  command
      .add_option("DATASET", options->words,
                  "data set ('d5 list datasets') or a container's files, as NAME[:KEY=VALUE]...")
      ->required();
  command.add_option("--part", options->part, "part of the data set")
      ->transform(app::one_of({{"train", "train"}, {"test", "test"}}))
      ->option_text("train|test");
  command.add_option("--what", options->what, "list to show; all if left out")
      ->transform(app::one_of(std::map<std::string, What>{{"all", What::all},
                                                          {"fields", What::fields},
                                                          {"classes", What::classes},
                                                          {"samples", What::samples}}))
      ->option_text("all|fields|classes|samples");
  command.add_option("--samples", options->samples, "number of samples to show, from the first")
      ->transform(app::whole_number(0))
      ->option_text("N");
  command
      .add_option("--pictures", options->pictures,
                  "folder to write the samples' images to, as PNG files")
      ->option_text("DIR");
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
