// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/load/served_predictor.hpp"
#include "d5/serving/inference/inference_message.hpp"

namespace d5 {

struct InferenceOptions {
  std::string framework = "reference";  ///< a word of `open_predictor`
  int threads = 0;                      ///< of each instance; 0: the instances share d5's
  ServedOptions served = {};            ///< of each model
  bool catalogue = true;                ///< models that d5 has a manifest of are opened when asked
  /// A command that calls `answer_alone`: each instance is a process of its own, so that one that
  /// crashes, hangs or eats all memory fails what it was asked, and is begun again. Empty:
  /// instances run in this process.
  std::vector<std::string> alone = {};
  double most_seconds = 60;    ///< for an answer of such a process, which is ended then
  std::size_t most_bytes = 0;  ///< of its address space; 0: as much as there is
  /// s before it is begun again after three losses in a row; after each further one twice as long,
  /// up to 64 times this. After the first two it is begun again at once.
  double first_wait = 1;
};

/// Models that a server answers with: each in instances that take batches from one line.
///
///     InferenceModels models({.framework = "torch", .served = {.largest_batch = 8}});
///     models.add("lenet");
///     const auto response = models.infer({.model = "lenet", .inputs = {{"image", images}}});
///
/// Dimension 0 of each input is the sample. Requests that wait at the same time are answered
/// together; what is answered does not depend on it, as far as the framework's arithmetic does not
/// depend on the batch. One that fails beside others is asked again by itself.
///
/// A name of the network's is looked up among those that were added, and in the catalogue: it is
/// no path, and no word of `open_model`.
/// Thread safety: all of it, `add` too; `infer` waits for its answer.
class InferenceModels {
 public:
  explicit InferenceModels(InferenceOptions options = {});
  ~InferenceModels();
  InferenceModels(const InferenceModels&) = delete;
  InferenceModels& operator=(const InferenceModels&) = delete;

  /// Opens a model: a built-in network, a file (`open_model`), or one of the catalogue. What it is
  /// called is returned. Throws: what opening throws; ValueError where the name is taken.
  std::string add(const std::string& word);

  /// Of all that can be asked.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The same, with how they are; opens none.
  [[nodiscard]] std::vector<InferenceModelState> states() const;
  [[nodiscard]] InferenceServerInfo server() const;
  /// These open a model of the catalogue that is not open yet, which takes as long as it takes.
  /// Throws: NotFound for a model or a version that is not here; what opening throws.
  [[nodiscard]] InferenceModelInfo model(const std::string& name, const std::string& version = {});
  /// Throws: also NotFound, ShapeError, TypeError for inputs that the model does not have, or of
  /// another type or shape; CommunicationError for a process of the model's own that ended, gave no
  /// answer in time, or is about to be begun again; what else a model throws that fails.
  [[nodiscard]] InferenceResponse infer(const InferenceRequest& request);
  /// Why a model does not answer now, though it is here: its processes ended, and are begun again.
  /// Empty: it does. Throws: as `model`.
  [[nodiscard]] std::string why_not_ready(const std::string& name, const std::string& version = {});

 private:
  class Opened;
  std::unique_ptr<Opened> opened_;
};

/// In a process that an `InferenceModels` began (`InferenceOptions::alone`): answers for the model
/// that it names, over the socket that is the standard input, until it is gone. The exit status.
[[nodiscard]] int answer_alone();

}  // namespace d5
