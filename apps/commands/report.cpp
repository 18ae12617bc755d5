// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 report results.json                     a table of what was measured
  d5 report monday.json tuesday.json --format markdown > report.md
  d5 report results.json --format csv > results.csv
  d5 report results.json --pivot framework    cases by frameworks, with geometric means)";

struct Options : app::OutputOptions {
  std::vector<std::string> files;
};

int run(const Options& options) {
  Results all = read_results(options.files.front());
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    Results next = read_results(options.files[i]);
    if (options.format == Format::json || !options.out.empty()) {
      throw ValueError(
          "report: results of several files have several environments, and do not make one file; "
          "give one file, or choose table, csv or markdown");
    }
    if (next.environment.hostname != all.environment.hostname && !options.quiet) {
      fmt::print(stderr, "d5: note: {} is from another machine than {}\n",
                 printable(options.files[i]), printable(options.files.front()));
    }
    for (auto& m : next.measurements) all.measurements.push_back(std::move(m));
  }
  app::print(all, options);
  if (!options.out.empty()) write_results(all, options.out);
  return exit_status(all.measurements);
}

}  // namespace

void register_report(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("report", "tables of results files", kExamples,
                              [options] { return run(*options); });
  command.add_option("RESULT", options->files, "results files that --out wrote")->required();
  app::add_pivot_option(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
