// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/published_data.hpp"

namespace d5::command {
namespace {

constexpr const char* kDataListExamples =
    R"(  d5 data list
  d5 data list --format json
  d5 list datasets cifar-10       options of a data set

Data sets are searched in $D5_DATA_DIR, then in the user's cache.)";

struct DataListOptions : app::OutputOptions {
  std::vector<std::string> load;
};

std::string size_of_files(const PublishedData& data) {
  std::size_t bytes = 0;
  for (const auto& file : data.files) bytes += file.bytes;
  return bytes == 0 ? "" : fmt::format("{:.0f} MB", double(bytes) / 1e6);
}

std::string where(const std::string& name, const PublishedData& data) {
  const std::string folder = found_data(name);
  if (!folder.empty()) return folder;
  return data.files.empty() ? "by hand, 'd5 data fetch " + name + "' says how"
                            : "d5 data fetch " + name;
}

int run_data_list(const DataListOptions& options) {
  app::load(options.load);
  TextTable table({"name", "content", "files", "licence", "source", "where"});
  for (const auto& [name, entry] : datasets().entries()) {
    if (const PublishedData* data = published_data().find(name)) {
      table.add({name, data->content, size_of_files(*data), data->licence, data->source,
                 where(name, *data)});
    } else {
      table.add({name, entry.summary(), "", "", "", "one's own: d5 list datasets " + name});
    }
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_data_list(app::Program& program) {
  auto options = std::make_shared<DataListOptions>();
  auto& command = program.add("data list", "list data sets, with size, licence and location",
                              kDataListExamples, [options] { return run_data_list(*options); });
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
