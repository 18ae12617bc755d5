// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_process.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace d5::detail {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 20;  // limit of kept output, in bytes

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Limits& limits,
                           const std::shared_ptr<ChildStarter>& starter) {
  DescriptorPair output = make_pipe(), error = make_pipe();
  if (starter) {
    const pid_t process = starter->start(command, output.there.get(), error.there.get());
    process_.emplace(process, [=] { return starter->end_of(process); });
  } else {
    process_.emplace(Program{.words = command,
                             .variables = {"D5_TOKEN"},  // for the agent alone
                             .output = output.there.get(),
                             .error = error.there.get(),
                             .ends_with_parent = SIGKILL});
  }
  if (limits.most_bytes > 0) process_->limit_memory(limits.most_bytes);
  output_.from = std::move(output.here);
  error_.from = std::move(error.here);
}

bool ChildProcess::Pipe::take() {
  std::string bytes;
  take_available(from, bytes);
  part += bytes;
  all.append(bytes, 0, kMostKept - std::min(kMostKept, all.size()));
  if (part.size() > kMostKept) part.erase(0, part.size() - kMostKept);
  for (std::size_t end = 0; (end = part.find('\n')) != std::string::npos; part.erase(0, end + 1)) {
    const std::size_t last = part.find_last_not_of("\r\n ", end);
    if (last != std::string::npos && last < end) last_line = part.substr(0, last + 1);
  }
  return !bytes.empty();
}

bool ChildProcess::listen() {
  const bool said = output_.take();
  return error_.take() || said;
}

bool ChildProcess::has_ended() {
  if (!process_->has_ended()) return false;
  (void)listen();
  return true;
}

}  // namespace d5::detail
