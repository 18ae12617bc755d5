// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <memory>
#include <new>

#include "core/machine/plain_crashes.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/serving/inference/inference_models.hpp"
#include "serving/inference/model_line.hpp"
#include "serving/inference/told_error.hpp"

namespace d5 {
namespace {

using nlohmann::json;

/// Takes the socket from the standard input, which then reads nothing, so that processes that a
/// framework starts do not inherit it.
detail::OwnedDescriptor take_socket() {
  detail::OwnedDescriptor socket(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const detail::OwnedDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDIN_FILENO);
  return socket;
}

std::shared_ptr<Predictor> opened_as(const json& words) {
  ModelAssets assets{.model = words.at("model"), .network = words.at("network")};
  for (const auto& [name, path] : words.at("files").items()) assets.files[name] = path;
  const int count = words.at("threads");
  set_threads(count);
  return open_predictor(words.at("framework"), assets,
                        {.threads = count, .largest_batch = words.at("largest_batch")});
}

json error_of(const std::exception& error) {
  const detail::ToldError told = detail::told(error);
  return {{"error", {{"kind", told.kind}, {"words", told.words}}}};
}

}  // namespace

int answer_alone() {
  detail::crash_plainly();
  // If the system runs out of memory, it should end this process, not the server.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  constexpr double kForever = std::numeric_limits<double>::infinity();
  detail::ModelLine line(take_socket());
  std::shared_ptr<Predictor> predictor;
  static const ValueMap kNothing;
  while (const auto asked = line.receive(kForever)) {
    json words = json::object();
    const ValueMap* outputs = &kNothing;
    try {
      if (predictor) {
        outputs = &predictor->predict(asked->tensors);
      } else {
        predictor = opened_as(asked->words);
      }
    } catch (const std::bad_alloc&) {  // what it holds is not given back
      words = {{"lost", "it ran out of memory"}};
    } catch (const std::exception& error) {
      words = error_of(error);
    } catch (...) {
      words = error_of(Error("an exception of unknown type"));
    }
    try {
      if (!line.send(words, *outputs, kForever) || words.contains("lost")) break;
    } catch (const Error& error) {  // outputs that cannot be sent; nothing was
      if (!line.send(error_of(error), kNothing, kForever)) break;
    }
  }
  return 0;
}

}  // namespace d5
