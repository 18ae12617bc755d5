// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/files/scratch_folder.hpp"
#include "d5/core/environment.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/rank_launch.hpp"
#include "d5/prediction/local_prediction.hpp"

namespace d5 {
namespace {

std::string file_word(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; }, '-');
  return name;
}

/// Runs commands whose results stay in a folder, for a while or for good.
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

  TrainingProfile profile(int copies) const {
    const std::string file =
        in_folder(fmt::format("profile-{}-{}.json", file_word(commands_.profile_name), copies));
    const bool is_kept = std::filesystem::exists(file);
    if (!is_kept) run(copies, commands_.profile, file, fmt::format("profile of {} copies", copies));
    TrainingProfile profile = read_training_profile(file);
    if (is_kept) {
      expect_fit(profile, "", machine_words(environment()), commands_.threads, commands_.misfit);
    }
    return profile;
  }

  NetworkDescription network(int ranks) const {
    const std::string file =
        in_folder(fmt::format("network-{}-{}.yaml", file_word(commands_.network_name), ranks));
    if (!std::filesystem::exists(file)) {
      run(ranks, commands_.calibrate, file, fmt::format("network of {} ranks", ranks));
    }
    NetworkDescription network = load_network_description(file);
    network.name = commands_.network_name;
    return network;
  }

  std::vector<double> steps(int ranks) const {
    if (commands_.launches == 1) return steps_of_launch(ranks, "");
    std::vector<double> medians;
    for (int i = 1; i <= commands_.launches && !interrupt_.due(); ++i) {
      const auto which = fmt::format(", launch {} of {}", i, commands_.launches);
      medians.push_back(summarise(steps_of_launch(ranks, which)).median);
    }
    return medians;
  }

  Timeline timeline(int ranks) const {
    const detail::ScratchFolder folder("trace");
    auto words = commands_.measure;
    words.insert(words.end(), {"--trace", folder / "trace.json"});
    run(ranks, words, folder / "steps.json", fmt::format("trace of {} ranks", ranks));
    return read_timeline(folder / "trace.json");
  }

 private:
  std::vector<double> steps_of_launch(int ranks, const std::string& which) const {
    const detail::ScratchFolder folder("measure");
    run(ranks, commands_.measure, folder / "steps.json",
        fmt::format("steps of {} ranks{}", ranks, which));
    const auto records = read_results(folder / "steps.json").measurements;
    if (records.size() == 1) return records.front().samples;
    throw FormatError(fmt::format("measured steps are {} records; expected one", records.size()));
  }

  [[nodiscard]] std::string in_folder(const std::string& name) const {
    return scratch_ ? *scratch_ / name : (std::filesystem::path(commands_.keep) / name).string();
  }

  void run(int ranks, std::vector<std::string> words, const std::string& file,
           const std::string& what) const {
    if (commands_.say) commands_.say(what);
    words.insert(words.end(), {"--out", file});
    const LaunchedRun done = run_ranks(ranks, words, interrupt_);
    if (done.status == 0 && std::filesystem::exists(file)) return;
    throw CommunicationError(fmt::format("{} on {} ranks ended with {}: {}",
                                         words.size() > 1 ? words[1] : words.front(), ranks,
                                         done.status, printable_message(done.output)));
  }

  LocalCommands commands_;
  Interrupt interrupt_;
  std::optional<detail::ScratchFolder> scratch_;
};

}  // namespace

LocalRanks launched_ranks(const LocalCommands& commands, const Interrupt& interrupt) {
  const auto launched = std::make_shared<LaunchedCommands>(commands, interrupt);
  LocalRanks here{.profile = [launched](int copies) { return launched->profile(copies); },
                  .network = [launched](int ranks) { return launched->network(ranks); },
                  .steps = {},
                  .timeline = {}};
  if (!commands.measure.empty()) {
    here.steps = [launched](int ranks) { return launched->steps(ranks); };
    here.timeline = [launched](int ranks) { return launched->timeline(ranks); };
  }
  return here;
}

}  // namespace d5
