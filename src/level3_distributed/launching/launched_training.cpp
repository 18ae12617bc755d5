// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "core/files/scratch_folder.hpp"
#include "core/process/launcher.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/level3_distributed/launching/scaling_study.hpp"

namespace d5 {
namespace {

/// The first line with an error, else the last line.
std::string reason_in(const std::string& output) {
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

/// The words for a shell. The program is d5, wherever it is.
std::string shell_line(const std::vector<std::string>& words, int ranks) {
  CommandLine line;
  for (std::size_t i = 1; i < words.size(); ++i) line.word(words[i]);
  return (ranks > 1 ? detail::launcher_line(ranks) : "") + "d5" + line.text();
}

}  // namespace

TrainAt launched_training(std::vector<std::string> command, Interrupt interrupt) {
  return [command = std::move(command), interrupt = std::move(interrupt)](
             const ScalingPoint& point, std::uint64_t seed) -> std::vector<Measurement> {
    const detail::ScratchFolder folder("scale");
    const std::string results = folder / "results.json";
    auto words = command;
    words.insert(words.end(), {"--seed", std::to_string(seed)});
    if (point.ranks > 1) {
      words.insert(words.end(), {"--distributed", point.scheme, "--scaling", point.scaling});
    }
    const std::string again = shell_line(words, point.ranks);
    words.insert(words.end(), {"--out", results});
    const LaunchedRun run = run_ranks(point.ranks, words, interrupt);
    if (std::filesystem::exists(results)) return read_results(results).measurements;
    return {{.subject = command.size() > 2 ? command[2] : command.front(),
             .command = again,
             .level = "distributed",
             .metric = "throughput",
             .unit = "1/s",
             .direction = Direction::higher_is_better,
             .status = Status::failed,
             .reason = fmt::format("'{}' ended with {}: {}", command.front(), run.status,
                                   printable_message(reason_in(run.output)))}};
  };
}

}  // namespace d5
