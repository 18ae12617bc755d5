// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/load/served_predictor.hpp"
#include "d5/serving/inference/inference_message.hpp"
#include "d5/serving/inference/inference_statistics.hpp"

namespace d5 {

struct InferenceOptions {
  std::string framework = "reference";  ///< a word of `open_predictor`
  int threads = 0;                      ///< threads of each instance; 0: the instances share d5's
  ServedOptions served = {};            ///< options of each model
  bool catalogue = true;                ///< open models of the catalogue on their first request
  /// A command that calls `answer_alone`: each instance is a process of its own, so that a crash, a
  /// hang or exhausted memory fails only its requests; then it is restarted. Empty: instances run
  /// in this process.
  std::vector<std::string> alone = {};
  double most_seconds = 60;    ///< time limit of an answer of such a process, which is then ended
  std::size_t most_bytes = 0;  ///< address-space limit; 0: none
  /// Delay in s of a restart after three losses in a row; it doubles with each further one, up to
  /// 64 times this. The first two restarts are immediate.
  double first_wait = 1;
};

/// Models that a server runs, each in instances that take batches from one line.
///
///     InferenceModels models({.framework = "torch", .served = {.largest_batch = 8}});
///     models.add("lenet");
///     const auto response = models.infer({.model = "lenet", .inputs = {{"image", images}}});
///
/// Dimension 0 of each input is the sample. Requests that wait at the same time are answered in one
/// batch; answers do not depend on it, as far as the framework's arithmetic does not depend on the
/// batch. A request that fails beside others is repeated on its own.
///
/// A name from the network is looked up among the added models, and in the catalogue: it is neither
/// a path nor a word of `open_model`.
/// Thread safety: all functions, even `add`; `infer` waits for its answer.
class InferenceModels {
 public:
  explicit InferenceModels(InferenceOptions options = {});
  ~InferenceModels();
  InferenceModels(const InferenceModels&) = delete;
  InferenceModels& operator=(const InferenceModels&) = delete;

  /// Opens a model: a built-in network, a file (`open_model`), or one of the catalogue. Returns its
  /// name. Throws: what opening throws; ValueError if the name is taken.
  std::string add(const std::string& word);

  /// The names of all available models.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same with their states; opens none.
  [[nodiscard]] std::vector<InferenceModelState> states() const;
  [[nodiscard]] InferenceServerInfo server() const;
  /// These open a model of the catalogue that is not open yet, which may take long. Throws:
  /// NotFound for an unknown model or version; what opening throws.
  [[nodiscard]] InferenceModelInfo model(const std::string& name, const std::string& version = {});
  [[nodiscard]] InferenceModelConfig config(const std::string& name,
                                            const std::string& version = {});
  /// Throws: also NotFound, ShapeError, TypeError for unknown inputs, or inputs of another type or
  /// shape; CommunicationError if the model's process ended, gave no answer in time, or is about to
  /// restart; what a failing model throws.
  [[nodiscard]] InferenceResponse infer(const InferenceRequest& request);
  /// Why an available model cannot answer now: its processes ended, and are restarted. Empty: it
  /// can. Throws: as `model`.
  [[nodiscard]] std::string why_not_ready(const std::string& name, const std::string& version = {});

  /// Statistics of all open models.
  [[nodiscard]] std::vector<InferenceModelStatistics> statistics() const;
  /// Statistics of a model, all 0 if it is not open; opens none. Throws: NotFound for an unknown
  /// model or version.
  [[nodiscard]] InferenceModelStatistics statistics(const std::string& name,
                                                    const std::string& version = {}) const;

 private:
  class Opened;
  std::unique_ptr<Opened> opened_;
};

/// The body of a process that an `InferenceModels` started (`InferenceOptions::alone`): answers for
/// the model that it names, over the socket that is its standard input, until that closes. Returns
/// the exit status.
[[nodiscard]] int answer_alone();

}  // namespace d5
