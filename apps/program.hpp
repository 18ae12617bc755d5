// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::app {

/// What failed while it ran, of whatever type: status 1, where the same of an input is 2.
class RunFailure : public Error {
  using Error::Error;
};

/// Exit status of the program.
inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;
inline constexpr int kUndecided = 3;  ///< a gate that cannot tell

/// The program d5: sub-commands that files in commands/ add.
///
///     auto options = std::make_shared<OutputOptions>();
///     auto& command = program.add("env", "what this machine is", kExamples,
///                                 [options] { return run(*options); });
///     add_output_options(command, *options);
class Program {
 public:
  Program();

  /// Adds a sub-command; "op check" is `check` below `op`. `examples` ends its help. `run` returns
  /// the exit status; a d5::Error out of it is printed, and the status is 2 (1 for Unsupported, and
  /// for NumericError and CommunicationError, which are no fault of the command line).
  CLI::App& add(std::string_view path, const std::string& summary, const std::string& examples,
                std::function<int()> run);

  /// `command` writes the file of its `--trace` itself: not what this process does, but what it
  /// tells of.
  void writes_own_trace(const CLI::App& command) { own_traces_.insert(&command); }

  /// Parses, runs, prints errors as `d5: error: ...`. Returns the exit status: `kBadUsage` too if
  /// stdout cannot be written, unless its reader went away.
  int run(int argc, char** argv);

  /// The commands with their options, to be read.
  [[nodiscard]] const CLI::App& tree() const { return app_; }

 private:
  int parse_and_run(int argc, char** argv);

  CLI::App app_;
  std::function<int()> chosen_;
  std::set<const CLI::App*> own_traces_;
};

}  // namespace d5::app
