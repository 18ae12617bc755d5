// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/model_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/machine/signal_words.hpp"
#include "d5/core/clock.hpp"
#include "serving/inference/told_error.hpp"
#include "serving/process/spawned_program.hpp"

namespace d5::detail {

struct ModelProcess::Sockets {
  OwnedDescriptor ours, others;
  static Sockets open() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw IoError(fmt::format("no socket for a model's process: {}", std::strerror(errno)));
    }
    return {OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1])};
  }
};

ModelProcess::ModelProcess(const ModelCommand& command) : ModelProcess(command, Sockets::open()) {}

// What it says goes where this one's errors go.
ModelProcess::ModelProcess(const ModelCommand& command, Sockets sockets)
    : process_(
          spawn(command.words,
                {.input = sockets.others.get(), .output = STDERR_FILENO, .error = STDERR_FILENO})),
      line_(std::move(sockets.ours), process_.descriptor()) {
  if (command.most_bytes > 0) process_.limit_memory(command.most_bytes);
}

std::string ModelProcess::how_it_ended() const {
  if (process_.exit_status() >= 0) {
    return fmt::format("it ended with status {}", process_.exit_status());
  }
  const bool is_kill = process_.reason().find(signal_words(SIGKILL)) != std::string::npos;
  return process_.reason() + (is_kill ? ", which the system sends where memory runs out" : "");
}

std::string ModelProcess::end(double deadline, double seconds) {
  constexpr int kMilliseconds = 5000;  // between a broken line and the end: the core may be kept
  const bool is_late = now_seconds() >= deadline;
  pollfd end{process_.descriptor(), POLLIN, 0};
  if (!is_late) (void)::poll(&end, 1, kMilliseconds);
  if (process_.has_ended()) return how_it_ended();
  process_.kill();
  return is_late ? fmt::format("it gave no answer within {} s, and was ended", seconds)
                 : "it broke off";
}

ValueMap ModelProcess::ask(const nlohmann::json& words, const ValueMap& tensors, double seconds) {
  const double deadline = now_seconds() + seconds;
  std::optional<ModelMessage> answer;
  try {
    if (line_.send(words, tensors, deadline)) answer = line_.receive(deadline);
  } catch (const std::exception& error) {  // what comes later would be taken for the next answer
    process_.kill();
    throw Lost(error.what());
  }
  if (!answer) throw Lost(end(deadline, seconds));
  if (answer->words.contains("lost")) throw Lost(answer->words.value("lost", ""));
  if (!answer->words.contains("error")) return std::move(answer->tensors);
  const auto& error = answer->words["error"];
  throw_again({.kind = error.value("kind", ""), .words = error.value("words", "")});
}

}  // namespace d5::detail
