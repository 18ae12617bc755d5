// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "apps/options.hpp"

namespace d5::app {

/// How a command goes through many cases or models. The same in all that do.
struct WorkOptions {
  bool list = false;     ///< name them
  bool dry_run = false;  ///< plan them
  bool resume = false;   ///< go on from a journal
  std::string filter;    ///< regular expression; empty: all
  const CLI::App* command = nullptr;
};
void add_work_options(CLI::App& command, WorkOptions& options);
/// Of options that say which pieces there are, and change no result of one.
inline constexpr const char* kManyGroup = "Many at once";

/// One piece of a command's work.
struct Work {
  Measurement record;        ///< what a failure is written into
  std::string name = {};     ///< where pieces have one subject; otherwise that is its name
  std::int64_t samples = 1;  ///< how often `run` will call `sampled`, about
  double most_seconds = std::numeric_limits<double>::infinity();  ///< of sampling
  std::function<std::vector<Measurement>(const std::function<void()>& sampled)> run;
  std::function<std::vector<Measurement>()> plan;  ///< runs nothing
};

/// Within the journal, and for --list and --filter.
[[nodiscard]] const std::string& name_of(const Work& work);

/// What `check` adds for each framework, up to an interrupt: what it added before stands. Of
/// several frameworks one that throws is `record`, failed. Throws: what is bad input as it comes.
[[nodiscard]] std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const Measurement& record,
    const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check);

/// Does all of it, piece by piece, as the options say: opens `--out` before the first, prints rows
/// and keeps them in the journal as they come, goes on after a piece that throws where there are
/// others, ends when it is interrupted. Returns the exit status.
/// Throws: ValueError for a filter that fits nothing; IoError; what a single piece throws.
int run_work(const std::vector<Work>& work, const WorkOptions& options,
             const OutputOptions& output);

}  // namespace d5::app
