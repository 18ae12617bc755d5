// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/prediction/overlap/overlap_analysis.hpp"
#include "d5/prediction/overlap/overlap_search.hpp"

namespace d5::command {
namespace {

constexpr const char* kOverlapReportExamples =
    R"(  d5 overlap report                             a published grid, from $D5_DATA_DIR/overlap:
                                                7 models, 4 batch sizes, 16 settings of NCCL
  d5 overlap report grid.csv --base default     'model,batch,SETTING,...', a throughput a cell
  d5 overlap report search.json                 the results of 'd5 overlap search'
  d5 overlap report --single --format csv       the loss from one setting for all rows

A gain is relative to --base. Its interval comes from the samples, or the rounding of the throughputs.)";

struct OverlapReportOptions : app::OutputOptions {
  std::string file, base = "2x256";
  bool single = false;
};

std::string file_of(const OverlapReportOptions& options) {
  if (!options.file.empty()) return options.file;
  const char* data = std::getenv("D5_DATA_DIR");
  if (!data) {
    throw ValueError(
        "overlap report: no FILE was given, and D5_DATA_DIR is not set, the folder above "
        "overlap/throughput.csv");
  }
  return std::string(data) + "/overlap/throughput.csv";
}

int run_overlap_report(const OverlapReportOptions& options) {
  const std::string file = file_of(options);
  const OverlapGrid grid =
      file.ends_with(".json") ? overlap_grid_of(read_results(file).measurements)
                              : overlap_grid_from_csv(read_file(file, 1 << 24), file, options.base);
  if (!options.single) app::print(best_settings_table(grid), options.format);
  if (!options.single && is_for_people(options.format)) app::print("\n", options.format);
  if (options.single || is_for_people(options.format)) {
    app::print(single_settings_table(grid), options.format);
  }
  return app::kPassed;
}

}  // namespace

void register_overlap_report(app::Program& program) {
  auto options = std::make_shared<OverlapReportOptions>();
  auto& command =
      program.add("overlap report", "show which communication setting trains each model fastest",
                  kOverlapReportExamples, [=] { return run_overlap_report(*options); });
  command.add_option("FILE", options->file,
                     "file of throughputs; $D5_DATA_DIR/overlap/throughput.csv if left out");
  command.add_option("--base", options->base, "base setting of the gains, in a table")
      ->option_text("SETTING");
  command.add_flag("--single", options->single, "show only the loss from one setting for all rows");
  app::add_format_options(command, *options);
}

}  // namespace d5::command
