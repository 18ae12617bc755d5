// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/model_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "d5/core/clock.hpp"
#include "serving/inference/told_error.hpp"

namespace d5::detail {

ModelProcess::ModelProcess(const ModelCommand& command)
    : ModelProcess(command, make_socket_pair(SOCK_STREAM)) {}

// What it says goes where this one's errors go.
ModelProcess::ModelProcess(const ModelCommand& command, DescriptorPair sockets)
    : process_(Program{.words = command.words,
                       .variables = {"D5_TOKEN"},  // the agent's alone
                       .input = sockets.there.get(),
                       .output = STDERR_FILENO,
                       .error = STDERR_FILENO,
                       .ends_with_parent = SIGKILL}),
      line_(std::move(sockets.here), process_.descriptor()) {
  if (command.most_bytes > 0) process_.limit_memory(command.most_bytes);
}

std::string ModelProcess::how_it_ended() const {
  const bool is_kill = process_.how().signal == SIGKILL;
  return process_.how().words() + (is_kill ? ", which the system sends where memory runs out" : "");
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
