// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/prediction/training/local_prediction.hpp"
#include "level3_distributed/launching/failed_launch.hpp"

namespace d5 {
namespace {

std::string file_word(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return name;
}

/// Runs commands that write results to a temporary or permanent folder.
class LaunchedCommands {
 public:
  LaunchedCommands(LocalCommands commands, Interrupt interrupt)
      : commands_(std::move(commands)), interrupt_(std::move(interrupt)) {
    if (commands_.keep.empty()) {
      scratch_.emplace("predict");
    } else {
      std::filesystem::create_directories(commands_.keep);
    }
  }

  TrainingProfile profile(int copies, int launch) const {
    const std::string which = commands_.launches > 1 ? fmt::format("-launch-{}", launch) : "";
    const std::string file = in_folder(
        fmt::format("profile-{}-{}{}.json", file_word(commands_.profile_name), copies, which));
    const bool is_kept = std::filesystem::exists(file);
    if (!is_kept) {
      run(copies, commands_.profile, {"--launch-file", file},
          fmt::format("profile of {} {}{}", copies, copies == 1 ? "copy" : "copies",
                      of_launches(launch)));
    }
    TrainingProfile profile = read_training_profile(file);
    if (is_kept) {
      expect_fit(profile, "", machine_words(environment()), commands_.threads, commands_.misfit);
    }
    return profile;
  }

  ClusterDescription cluster(int ranks) const {
    const std::string file =
        in_folder(fmt::format("network-{}-{}.yaml", file_word(commands_.cluster_name), ranks));
    if (!std::filesystem::exists(file)) {
      run(ranks, commands_.calibrate, {"--out", file}, fmt::format("cluster of {} ranks", ranks));
    }
    ClusterDescription cluster = load_cluster_description(file);
    cluster.name = commands_.cluster_name;
    return cluster;
  }

  std::vector<double> steps(int ranks, int launch) const {
    const detail::ScratchFolder folder("measure");
    const std::string file = folder / "steps.json";
    run(ranks, commands_.measure, {"--out", file},
        fmt::format("steps of {} ranks{}", ranks, of_launches(launch)));
    const auto records = read_results(file).measurements;
    if (records.size() == 1) return records.front().samples;
    throw FormatError(fmt::format("measured steps are {} records; expected one", records.size()));
  }

  Timeline timeline(int ranks) const {
    const detail::ScratchFolder folder("trace");
    const std::string trace = folder / "trace.json", steps = folder / "steps.json";
    run(ranks, commands_.measure, {"--trace", trace, "--out", steps},
        fmt::format("trace of {} ranks", ranks));
    return read_timeline(trace);
  }

 private:
  [[nodiscard]] std::string of_launches(int launch) const {
    if (commands_.launches == 1) return "";
    return fmt::format(", launch {} of {}", launch, commands_.launches);
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const {
    return scratch_ ? *scratch_ / name : (std::filesystem::path(commands_.keep) / name).string();
  }

  /// The last of `more` is the output file.
  void run(int ranks, std::vector<std::string> words, const std::vector<std::string>& more,
           const std::string& what) const {
    if (commands_.say) commands_.say(what);
    words.insert(words.end(), more.begin(), more.end());
    const LaunchedRun done = run_ranks(ranks, words, interrupt_);
    if (done.status == 0 && std::filesystem::exists(more.back())) return;
    detail::throw_failed(done, words.size() > 1 ? words[1] : words.front(), ranks);
  }

  LocalCommands commands_;
  Interrupt interrupt_;
  std::optional<detail::ScratchFolder> scratch_;
};

}  // namespace

LocalRanks launched_ranks(const LocalCommands& commands, const Interrupt& interrupt) {
  const auto launched = std::make_shared<LaunchedCommands>(commands, interrupt);
  LocalRanks here{
      .profile = [launched](int copies, int launch) { return launched->profile(copies, launch); },
      .cluster = [launched](int ranks) { return launched->cluster(ranks); },
      .steps = {},
      .timeline = {},
      .launches = commands.launches};
  if (!commands.measure.empty()) {
    here.steps = [launched](int ranks, int launch) { return launched->steps(ranks, launch); };
    here.timeline = [launched](int ranks) { return launched->timeline(ranks); };
  }
  return here;
}

}  // namespace d5
