// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "d5/evaluation/predictor.hpp"
#include "serving/inference/model_process.hpp"

namespace d5::detail {

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
