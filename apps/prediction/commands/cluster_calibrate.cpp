// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/rank_options.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/screen/progress.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "d5/prediction/calibration/cluster_calibration.hpp"

namespace d5::command {
namespace {

constexpr const char* kCalibrateExamples =
    R"(  d5 cluster calibrate --out here.yaml           between two ranks of this machine
  mpirun -np 8 --hostfile hosts d5 cluster calibrate --out cluster.yaml
                                                between hosts: ranks 0 and 1 on two of them
  d5 cluster calibrate --wire 50us,1GB/s        of a modelled wire

Also measures sizes and all-reduces that the fit does not use, and prints them beside its predictions.)";

struct CalibrateCommand : app::OutputOptions {
  app::RankOptions around;
  CalibrationOptions calibration;
  std::string name = "this-machine", largest = "16MiB";
  int ranks = 2;
};

int run_calibrate(CalibrateCommand options) {
  app::start_ranks(options.ranks);
  share_threads();
  const auto ranks = app::ranks_of(options.around);
  if (ranks->rank() == 0 && !options.out.empty()) check_writable(options.out);
  if (ranks->rank() != 0 || options.quiet) Progress::set_quiet(true);
  auto& ends = options.calibration.ends.repetitions;
  ends = std::min(ends, options.calibration.repetitions);
  options.calibration.most_bytes = std::int64_t(byte_count(options.largest));
  Progress progress("calibrate", CalibrationOptions::kParts);
  options.calibration.on_part = [&] { progress.advance(); };
  const ClusterTimes times = time_cluster(*ranks, options.calibration);
  if (ranks->rank() == 0) {
    const ClusterCalibration calibration = calibrate_cluster(times, options.name);
    if (options.out.empty()) {
      fmt::print("{}\n", to_yaml(calibration.cluster));
    } else {
      write_file(options.out, to_yaml(calibration.cluster));
      app::say_written(options);
    }
    app::print(calibration_table(calibration), options.format);
    if (const double spread = calibration.cluster.spread.value;
        spread > ClusterDescription::kBusySpread) {
      app::say(
          fmt::format("mistrusted: {:.0f}% off where it was not fitted (root mean square); "
                      "calibrate on an otherwise idle machine",
                      100 * spread));
    }
  }
  ranks->barrier();
  return 0;
}

}  // namespace

void register_cluster_calibrate(app::Program& program) {
  auto options = std::make_shared<CalibrateCommand>();
  auto& command = program.add("cluster calibrate", "fit a cluster description to measured messages",
                              kCalibrateExamples, [=] { return run_calibrate(*options); });
  command.add_option("--name", options->name, "name of the cluster")->option_text("NAME");
  app::add_started_ranks_option(command, options->ranks);
  command.add_option("--repetitions", options->calibration.repetitions, "repetitions of each size")
      ->transform(app::whole_number(1, 1'000'000))
      ->option_text("N");
  command
      .add_option("--largest", options->largest, "largest message of the fit (16MiB if left out)")
      ->transform(app::bytes())
      ->option_text("SIZE");
  app::add_rank_options(command, options->around);
  app::add_output_options(command, *options, app::kTableFormats);
}

}  // namespace d5::command
