// SPDX-License-Identifier: Apache-2.0
#include "serving/launch/shell_line.hpp"

#include <fmt/format.h>

#include "core/process/program_run.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"

namespace d5::detail {

std::string shell_line(const std::vector<std::string>& command, const std::string& quoted) {
  CommandLine line;
  for (const std::string& word : command) line.word(word);
  return line.text().substr(1) + quoted;
}

std::string output_of(const std::vector<std::string>& command) try {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  ProgramRun run = run_program({.words = command});
  if (run.end.status == 0) return std::move(run.output);
  throw IoError(fmt::format("{}: {}", printable(command.at(0)),
                            printable_message(run.error.substr(0, kMostBytes))));
} catch (const NoProgram&) {
  throw Unsupported(fmt::format("'{}' is not there", printable(command.at(0))));
}

}  // namespace d5::detail
