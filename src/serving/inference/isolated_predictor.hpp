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

/// Command and limits of a process that answers for a model.
struct ModelCommand {
  std::vector<std::string> words;  ///< a program that calls `answer_alone`
  double most_seconds = 60;        ///< time limit for an answer
  std::size_t most_bytes = 0;      ///< limit of address space; 0: none
  double first_wait = 1;           ///< wait after three consecutive losses, in s
};

/// A process that answers for a model, over a private socket.
class ModelProcess {
 public:
  /// Starts the process. Throws: IoError if it cannot be started.
  explicit ModelProcess(const ModelCommand& command);

  /// Returns its answer, which must arrive within `seconds`.
  /// Throws: the process's own error; Lost if there is no answer: the object is then unusable.
  [[nodiscard]] ValueMap ask(const nlohmann::json& words, const ValueMap& tensors, double seconds);
  class Lost;

  [[nodiscard]] bool has_ended() { return process_.has_ended(); }
  /// "it was ended by SIGSEGV (Segmentation fault)", "it ended with status 3"
  [[nodiscard]] std::string how_it_ended() const;
  /// Kills the process; a pending `ask` throws Lost. Thread safety: may be called from any thread.
  void kill() const { process_.kill(); }

 private:
  ModelProcess(const ModelCommand& command, DescriptorPair sockets);
  /// Ends the process if it does not end by itself. Returns why there was no answer.
  [[nodiscard]] std::string end(double deadline, double seconds);
  OwnedProcess process_;
  ModelLine line_;
};

/// The process ended, or was ended because it did not answer in time.
class ModelProcess::Lost : public CommunicationError {
  using CommunicationError::CommunicationError;
};

/// A model in its own process. If the process ends, that is a loss, and the process is restarted:
/// at once after the first consecutive losses, then after a wait that doubles with each.
///
/// Processes end with the thread that calls `predict` and `begin_again`.
class IsolatedPredictor final : public Predictor {
 public:
  /// Opens the model. Throws: what opening throws there; CommunicationError if opening ends the
  /// process.
  IsolatedPredictor(const std::string& framework, const ModelAssets& assets,
                    const PredictorOptions& options, ModelCommand command);

  [[nodiscard]] std::string name() const override { return name_; }
  /// Predicts; restarts a process that ended between calls. Throws: what predicting throws there;
  /// CommunicationError for a loss, and during the wait after it.
  const ValueMap& predict(const ValueMap& inputs) override;

  [[nodiscard]] bool is_open() const { return process_ != nullptr; }
  /// Seconds until the process may be restarted.
  [[nodiscard]] double wait() const;
  /// "model 'x': it was ended by SIGSEGV (...); it is begun again in 2 s"; empty before the first.
  [[nodiscard]] std::string loss() const;
  /// Restarts the process, once the wait is over. A failure is one more loss.
  void begin_again();
  /// Ends the process for good; a pending `predict` throws. Thread safety: may be called from any
  /// thread.
  void stop();

 private:
  void open();
  void lose(const std::string& how);

  const std::string name_, model_;
  const ModelCommand command_;
  const nlohmann::json opening_;
  ValueMap outputs_;
  std::string how_;   ///< description of the last loss
  int losses_ = 0;    ///< losses since the last answer
  double again_ = 0;  ///< earliest time of a restart, in s of `now_seconds`
  std::mutex mutex_;  ///< guards the two members below against `stop` in another thread
  std::unique_ptr<ModelProcess> process_;
  bool is_stopped_ = false;
};

}  // namespace d5::detail
