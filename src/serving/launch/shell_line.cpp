// SPDX-License-Identifier: Apache-2.0
#include "serving/launch/shell_line.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/files/scratch_folder.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {

std::string shell_line(const std::vector<std::string>& command, const std::string& quoted) {
  CommandLine line;
  for (const std::string& word : command) line.word(word);
  return line.text().substr(1) + quoted;
}

std::string output_of(const std::vector<std::string>& command) {
  constexpr int kNoSuchCommand = 127;  // of the shell
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const ScratchFolder folder("launch");
  const std::string errors = folder / "stderr";
  const std::string line = shell_line(command, " 2>" + shell_line({errors}));
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(line.c_str(), "re"), pclose);
  if (!pipe) throw IoError(fmt::format("a process cannot be started: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 4096> bytes;
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe.get())) {
    text.append(bytes.data(), count);
  }
  const int status = pclose(pipe.release());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchCommand) {
    throw Unsupported(fmt::format("'{}' is not there", printable(command.at(0))));
  }
  throw IoError(fmt::format("{}: {}", printable(command.at(0)),
                            printable_message(read_file(errors, kMostBytes))));
}

}  // namespace d5::detail
