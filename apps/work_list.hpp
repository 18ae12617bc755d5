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

/// One piece of a command's work.
struct Work {
  Measurement record;        ///< its subject names it; what a failure is written into
  std::int64_t samples = 1;  ///< how often `run` will call `sampled`, about
  double most_seconds = std::numeric_limits<double>::infinity();  ///< of sampling
  std::function<std::vector<Measurement>(const std::function<void()>& sampled)> run;
  std::function<std::vector<Measurement>()> plan;  ///< runs nothing
};

/// What `check` adds for each framework, up to an interrupt: what it added before stands.
[[nodiscard]] std::vector<Measurement> check_each(
    const std::vector<std::string>& frameworks, const std::function<void()>& sampled,
    const std::function<void(const std::string& framework, std::vector<Measurement>&)>& check);

/// Does all of it, piece by piece, as the options say: opens `--out` before the first, prints rows
/// and keeps them in the journal as they come, goes on after a piece that throws where there are
/// others, ends when it is interrupted. Returns the exit status.
/// Throws: ValueError for a filter that fits nothing; IoError; what a single piece throws.
int run_work(const std::vector<Work>& work, const WorkOptions& options,
             const OutputOptions& output);

}  // namespace d5::app
