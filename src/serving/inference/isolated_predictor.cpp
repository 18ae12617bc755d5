// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/isolated_predictor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "serving/inference/told_error.hpp"

namespace d5::detail {
namespace {

constexpr int kAtOnce = 2;  // consecutive losses that are followed by a restart without a wait
constexpr int kMostDoublings = 6;  // limit on doublings of the wait
constexpr double kOpening = 600;   // s; time limit for opening: it loads a framework, compiles

double wait_after(int losses, double first_wait) {
  if (losses <= kAtOnce) return 0;
  return std::ldexp(first_wait, std::min(losses - kAtOnce - 1, kMostDoublings));
}

nlohmann::json opening_of(const std::string& framework, const ModelAssets& assets,
                          const PredictorOptions& options) {
  return {{"framework", framework},     {"model", assets.model},
          {"network", assets.network},  {"files", assets.files},
          {"threads", options.threads}, {"largest_batch", options.largest_batch}};
}

}  // namespace

ModelProcess::ModelProcess(const ModelCommand& command)
    : ModelProcess(command, make_socket_pair(SOCK_STREAM)) {}

// The process writes its output and errors to this one's standard error.
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

IsolatedPredictor::IsolatedPredictor(const std::string& framework, const ModelAssets& assets,
                                     const PredictorOptions& options, ModelCommand command)
    : name_(framework),
      model_(fmt::format("model '{}'", printable(assets.model))),
      command_(std::move(command)),
      opening_(opening_of(framework, assets, options)) {
  try {
    open();
  } catch (const ModelProcess::Lost& lost) {
    throw CommunicationError(fmt::format("{} was not opened in a process of its own: {}", model_,
                                         printable_message(lost.what())));
  }
}

void IsolatedPredictor::open() {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) throw CommunicationError(model_ + ": it is closed");
    process_ = std::make_unique<ModelProcess>(command_);
  }
  try {
    (void)process_->ask(opening_, {}, kOpening);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    process_.reset();
    throw;
  }
}

void IsolatedPredictor::lose(const std::string& how) {
  how_ = how;
  again_ = now_seconds() + wait_after(++losses_, command_.first_wait);
  const std::lock_guard lock(mutex_);
  process_.reset();
}

double IsolatedPredictor::wait() const { return std::max(0.0, again_ - now_seconds()); }

std::string IsolatedPredictor::loss() const {
  if (how_.empty()) return {};
  const double left = wait();
  return fmt::format("{}: {}; it is begun again{}", model_, printable_message(how_),
                     left > 0 ? fmt::format(" in {} s", std::ceil(left)) : "");
}

void IsolatedPredictor::begin_again() {
  try {
    open();
  } catch (const std::exception& error) {
    lose(fmt::format("when it was begun again, {}", error.what()));
  }
}

const ValueMap& IsolatedPredictor::predict(const ValueMap& inputs) {
  if (is_open() && process_->has_ended()) lose("while nobody asked, " + process_->how_it_ended());
  if (!is_open() && wait() == 0) begin_again();
  if (!is_open()) throw CommunicationError(loss());
  try {
    outputs_ = process_->ask({}, inputs, command_.most_seconds);
    losses_ = 0;
    return outputs_;
  } catch (const ModelProcess::Lost& lost) {
    lose(lost.what());
    throw CommunicationError(loss());
  }
}

void IsolatedPredictor::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (process_) process_->kill();
}

}  // namespace d5::detail
