// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset_summary.hpp"
#include "d5/level2_training/data/published_data.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataVerifyExamples =
    R"(  d5 data verify mnist            compare published checksums, read every sample
  d5 data verify cifar-10:data=DIR
  d5 data verify files:data=list.txt

Exit status 1 if a file is wrong or a sample cannot be read.)";

struct DataVerifyOptions : app::OutputOptions {
  std::string words;
  std::vector<std::string> load;
};

/// Adds rows for the files with published checksums. Returns false if one is wrong.
bool add_files(const EntryChoice& choice, TextTable& table) {
  if (!published_data().find(choice.name)) return true;
  std::string folder = choice.settings.text("data", "");
  if (folder.empty()) folder = found_data(choice.name);
  if (folder.empty()) return true;
  bool right = true;
  for (const auto& [is, file, reason] : verify_data(choice.name, folder, app::ctrl_c())) {
    table.add({file, word_of(is), reason});
    right &= is != FileState::Is::wrong;
  }
  return right;
}

/// Reads every sample of a part. Returns false if one cannot be read.
bool add_part(const std::shared_ptr<const Dataset>& part, TextTable& table) {
  if (!part) return true;
  try {
    const std::int64_t bytes = read_all(*part, app::ctrl_c());
    table.add({part->name(), "right", fmt::format("{} samples, {} bytes", part->size(), bytes)});
    return true;
  } catch (const FormatError& error) {
    table.add({part->name(), "wrong", error.what()});
  } catch (const IoError& error) {
    table.add({part->name(), "wrong", error.what()});
  }
  return false;
}

int run_data_verify(const DataVerifyOptions& options) {
  app::load(options.load);
  const EntryChoice choice = dataset_of_words(options.words);
  TextTable table({"what", "state", "details"});
  bool right = add_files(choice, table);
  try {
    const DatasetPair data = open_dataset(choice.name, choice.settings, app::ctrl_c());
    right &= add_part(data.train, table);
    right &= add_part(data.test, table);
  } catch (const FormatError& error) {
    table.add({choice.name, "wrong", error.what()});
    right = false;
  }
  app::print(table, options.format);
  return right ? app::kPassed : app::kFailed;
}

}  // namespace

void register_data_verify(app::Program& program) {
  auto options = std::make_shared<DataVerifyOptions>();
  auto& command = program.add("data verify", "check a data set's files, and read every sample",
                              kDataVerifyExamples, [options] { return run_data_verify(*options); });
  command
      .add_option("DATASET", options->words,
                  "data set ('d5 list datasets') or a container's files, as NAME[:KEY=VALUE]...")
      ->required();
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
