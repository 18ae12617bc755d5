// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/evaluation/served_predictor.hpp"
#include "d5/serving/inference_message.hpp"

namespace d5 {

struct InferenceOptions {
  std::string framework = "reference";  ///< a word of `open_predictor`
  int threads = 0;                      ///< of each instance; 0: the instances share d5's
  ServedOptions served = {};            ///< of each model
  bool catalogue = true;                ///< models that d5 has a manifest of are opened when asked
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
  [[nodiscard]] InferenceServerInfo server() const;
  /// These open a model of the catalogue that is not open yet, which takes as long as it takes.
  /// Throws: NotFound for a model or a version that is not here; what opening throws.
  [[nodiscard]] InferenceModelInfo model(const std::string& name, const std::string& version = {});
  /// Throws: also NotFound, ShapeError, TypeError for inputs that the model does not have, or of
  /// another type or shape; Error for a model that fails.
  [[nodiscard]] InferenceResponse infer(const InferenceRequest& request);

 private:
  class Opened;
  std::unique_ptr<Opened> opened_;
};

}  // namespace d5
