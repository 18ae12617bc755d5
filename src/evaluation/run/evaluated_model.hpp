// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/evaluation/generation/regret.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/text_predictor.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "evaluation/run/generator_predictor.hpp"

namespace d5::detail {

/// One model in one framework during its evaluation: what its pieces share. The first piece that
/// needs it opens it; another batch size opens it again.
class EvaluatedModel {
 public:
  EvaluatedModel(const FixedEvaluation& evaluation, std::size_t model,
                 const FixedFramework& framework, Interrupt interrupt);

  [[nodiscard]] const ModelManifest& manifest() const { return model_.manifest; }
  [[nodiscard]] const DatasetManifest& dataset() const { return dataset_.manifest; }
  [[nodiscard]] const std::string& word() const { return framework_.word; }

  /// Paths of its files, which are downloaded if they are missing. Throws: NotFound, IoError.
  const ModelAssets& assets();

  /// Its samples, preprocessing and postprocessing. Throws: what finding and opening throw.
  [[nodiscard]] ModelPipeline& pipeline();
  [[nodiscard]] std::shared_ptr<Predictor> predictor(std::int64_t batch);
  /// A further predictor, for the calling thread.
  [[nodiscard]] std::shared_ptr<Predictor> open_beside(std::int64_t batch);
  /// The system of a model without a network for pipelines, whose predictor generates text, of
  /// `batch` texts at once if it is a generator in an executor. Throws: Unsupported for a predictor
  /// that does not.
  [[nodiscard]] std::unique_ptr<SystemUnderTest> text_system(std::int64_t batch);
  /// Its manifest, if it is a generator; else null.
  [[nodiscard]] const GeneratorManifest* generator() const {
    return generator_ ? &*generator_ : nullptr;
  }
  /// The generator in the framework's executor, opened for so many texts at once; null for a
  /// predictor such as openai, which generates by itself.
  [[nodiscard]] std::shared_ptr<GeneratorPredictor> generating(std::int64_t batch);
  /// The same as it is opened; null if it is not.
  [[nodiscard]] std::shared_ptr<GeneratorPredictor> opened_generator() const;
  /// The reference with a generator's weights.
  [[nodiscard]] RegretJudge& judge();
  /// Records of opening the predictor; once.
  [[nodiscard]] std::optional<ColdStart> take_cold_start();
  void close() { predictor_.reset(); }

  /// A record of this model, without metric.
  [[nodiscard]] Measurement record() const;

  /// Conditions of all its records: the system and its price.
  Conditions told = {};
  /// Why its answers are not right, as far as they were judged: a claim that it missed.
  std::string fault = {};

 private:
  /// Checks that precede every opening.
  void expect_openable();
  /// Whether a generator runs in the word's executor, not in a predictor that generates by itself.
  [[nodiscard]] bool opens_generator() const;
  /// Opens what the word names.
  [[nodiscard]] std::shared_ptr<Predictor> open(std::int64_t batch, ColdStart& cold_start);
  /// The steps with the model's texts and files in their settings.
  template <class E>
  [[nodiscard]] std::vector<EntryChoice> with_files(std::vector<EntryChoice> steps,
                                                    const Registry<E>& registry);
  /// A sample as the pipeline prepares it, so often: it has the sizes that the network leaves open.
  [[nodiscard]] ValueMap warm_up_inputs(std::int64_t batch);

  const FixedEvaluation& evaluation_;
  const FoundManifest<ModelManifest>& model_;
  const FoundManifest<DatasetManifest>& dataset_;
  const FixedFramework& framework_;
  Interrupt interrupt_;
  std::optional<ModelAssets> assets_;
  std::unique_ptr<ModelPipeline> pipeline_;
  std::unique_ptr<Prompts> prompts_;
  std::optional<GeneratorManifest> generator_;
  std::optional<RegretJudge> judge_;
  std::shared_ptr<Predictor> predictor_;
  bool agrees_ = false;
  std::int64_t batch_ = 0;
  std::optional<ColdStart> cold_start_;
};

/// `measured` as a number of `record`'s model, framework and data set.
[[nodiscard]] Measurement measured_of(const Measurement& record, Measurement measured);

}  // namespace d5::detail
