// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::app {

/// A failure of the run itself, of any type: exit status 1, where an error of the input gives 2.
class RunFailure : public Error {
  using Error::Error;
};

/// Exit status of the program.
inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;
inline constexpr int kUndecided = 3;  ///< a gate that cannot tell

/// The program d5, with the sub-commands of the files in commands/.
///
///     auto options = std::make_shared<OutputOptions>();
///     auto& command = program.add("env", "describe this machine", kExamples,
///                                 [options] { return run(*options); });
///     add_output_options(command, *options);
class Program {
 public:
  Program();

  /// Adds a sub-command; "op check" is `check` below `op`. `examples` ends its help. `run` returns
  /// the exit status. A d5::Error out of it is printed and gives status 2, or 1 for Unsupported,
  /// NumericError and CommunicationError, which do not come from the command line.
  CLI::App& add(std::string_view path, const std::string& summary, const std::string& examples,
                std::function<int()> run);

  /// Lets `command` write the file of its `--trace` itself: a trace of its subject instead of this
  /// process.
  void writes_own_trace(const CLI::App& command) { own_traces_.insert(&command); }

  /// Parses, runs, prints errors as `d5: error: ...`. Returns the exit status, which is `kBadUsage`
  /// if stdout cannot be written, unless its reader went away.
  int run(int argc, char** argv);

  /// The commands and their options, for completion and the manual page.
  [[nodiscard]] const CLI::App& tree() const { return app_; }

 private:
  int parse_and_run(int argc, char** argv);

  CLI::App app_;
  std::function<int()> chosen_;
  std::set<const CLI::App*> own_traces_;
};

}  // namespace d5::app
