// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/process/owned_process.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "serving/inference/model_line.hpp"

namespace d5::detail {

/// How a process that answers for a model is begun.
struct ModelCommand {
  std::vector<std::string> words;  ///< a program that calls `answer_alone`
  double most_seconds = 60;        ///< for an answer
  std::size_t most_bytes = 0;      ///< of address space; 0: as much as there is
  double first_wait = 1;           ///< s after three losses in a row
};

/// A process that answers for a model, asked over a socket that both alone have.
class ModelProcess {
 public:
  /// Begins it. Throws: IoError where it cannot be started.
  explicit ModelProcess(const ModelCommand& command);

  /// What it answers within `seconds`.
  /// Throws: what it tells; Lost where there is no answer: it is of no use any more.
  [[nodiscard]] ValueMap ask(const nlohmann::json& words, const ValueMap& tensors, double seconds);
  class Lost;

  [[nodiscard]] bool has_ended() { return process_.has_ended(); }
  /// "it was ended by SIGSEGV (Segmentation fault)", "it ended with status 3"
  [[nodiscard]] std::string how_it_ended() const;
  /// Thread safety: any. Whoever asks it loses it.
  void kill() const { process_.kill(); }

 private:
  ModelProcess(const ModelCommand& command, DescriptorPair sockets);
  /// Ends it, if it does not do so itself. Why there was no answer.
  [[nodiscard]] std::string end(double deadline, double seconds);
  OwnedProcess process_;
  ModelLine line_;
};

/// Its process ended, or was ended for its silence: how.
class ModelProcess::Lost : public CommunicationError {
  using CommunicationError::CommunicationError;
};

/// A model in a process of its own. What ends that is one loss; after it the process is begun
/// again, at once after the first losses in a row, then after a wait that doubles with each.
///
/// Processes end with the thread that calls `predict` and `begin_again`.
class IsolatedPredictor final : public Predictor {
 public:
  /// Opens it. Throws: what opening throws there; CommunicationError where that ends its process.
  IsolatedPredictor(const std::string& framework, const ModelAssets& assets,
                    const PredictorOptions& options, ModelCommand command);

  [[nodiscard]] std::string name() const override { return name_; }
  /// Begins a process that ended while nobody asked. Throws: what predicting throws there;
  /// CommunicationError for a loss, and where the wait after it is not over.
  const ValueMap& predict(const ValueMap& inputs) override;

  [[nodiscard]] bool is_open() const { return process_ != nullptr; }
  /// s until it may be begun again
  [[nodiscard]] double wait() const;
  /// "model 'x': it was ended by SIGSEGV (...); it is begun again in 2 s"; empty before the first.
  [[nodiscard]] std::string loss() const;
  /// Once the wait is over. Where that fails, it is one more loss.
  void begin_again();
  /// From any thread: whoever waits for it is told that it is lost, and it is not begun again.
  void stop();

 private:
  void open();
  void lose(const std::string& how);

  const std::string name_, model_;
  const ModelCommand command_;
  const nlohmann::json opening_;
  ValueMap outputs_;
  std::string how_;   ///< it was lost last
  int losses_ = 0;    ///< since it answered last
  double again_ = 0;  ///< when it may be begun again, s of `now_seconds`
  std::mutex mutex_;  ///< of the two below, where another thread may stop it
  std::unique_ptr<ModelProcess> process_;
  bool is_stopped_ = false;
};

}  // namespace d5::detail
