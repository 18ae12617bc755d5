// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/model_image.hpp"
#include "session_profile.hpp"

namespace d5::onnxruntime {
namespace {

const Env* environment() {
  static const Env* env = [] {
    Env* made = nullptr;
    kCreateEnv(kLogFatal, "d5", &made);
    return made;
  }();
  return env;
}

Handle<SessionOptions> options_for(const ModelTarget& target, const SessionChoice& choice) {
  constexpr int kLevels[] = {0, 1, 2, 99};  // disabled, basic, extended, all
  auto options = made_by<SessionOptions>(kCreateSessionOptions);
  SessionOptions* raw = options.get();
  const int threads = choice.threads > 0 ? int(choice.threads) : target.threads;
  kSetOptimizationLevel(raw, kLevels[std::size_t(choice.optimization)]);
  kSetExecutionMode(raw, int(choice.execution));
  kSetIntraOpThreads(raw, threads);
  kSetInterOpThreads(raw, choice.execution == Execution::parallel ? threads : 1);
  kAddSessionConfig(raw, "session.intra_op.allow_spinning", choice.spinning ? "1" : "0");
  kAddSessionConfig(raw, "session.inter_op.allow_spinning", choice.spinning ? "1" : "0");
  if (target.profiled) kEnableProfiling(raw, profile_prefix().c_str());
  return options;
}

}  // namespace

void SessionChoice::declare(OptionList& options) {
  options.add("optimization", optimization, "ONNX Runtime's graph optimization level",
              {"disabled", "basic", "extended", "all"});
  options.add("execution", execution, "execution of independent nodes", {"sequential", "parallel"});
  options.add("threads", threads, "threads within a node; 0: as many as d5", {.least = 0});
  options.add("spinning", spinning, "busy waiting of idle threads");
}

std::shared_ptr<Session> open_session(const onnx::Model& model, const ModelTarget& target,
                                      const SessionChoice& choice) {
  const auto options = options_for(target, choice);
  const SessionOptions* raw = options.get();
  try {
    const onnx::ModelImage image(model);
    const void* bytes = image.bytes().data();
    return image.path().empty()
               ? made_by<Session>(kCreateSessionFromArray, environment(), bytes,
                                  image.bytes().size(), raw)
               : made_by<Session>(kCreateSession, environment(), image.path().c_str(), raw);
  } catch (const Error& error) {
    throw Unsupported(fmt::format("model '{}': {}", printable(model.graph.name), error.what()));
  }
}

}  // namespace d5::onnxruntime
