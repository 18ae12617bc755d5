// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/predictor.hpp"
#include "d5/evaluation/served_predictor.hpp"
#include "d5/serving/inference_models.hpp"
#include "serving/inference/request_rows.hpp"

namespace d5::detail {

/// One model that is open, and the line of those who ask it.
/// Thread safety: all of it.
class ServedModel {
 public:
  /// Throws: what opening throws; Unsupported for a network whose inputs have no samples.
  ServedModel(std::string name, std::string version, const ModelAssets& assets,
              const InferenceOptions& options);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  [[nodiscard]] const InferenceModelInfo& info() const { return info_; }
  /// Throws: as `InferenceModels::infer`.
  [[nodiscard]] InferenceResponse infer(const InferenceRequest& request);

 private:
  struct Asked;
  AnswerBatch open_instance(const ModelAssets& assets, const InferenceOptions& options);
  [[nodiscard]] RequestRows rows_of(const InferenceRequest& request) const;
  [[nodiscard]] ValueMap ask(const RequestRows& rows);
  [[nodiscard]] std::vector<RowRange> taken(std::span<const std::int64_t> samples);
  void keep(std::vector<RangeAnswer> answers);
  void hear(std::span<const QueryAnswer> answers);

  InferenceModelInfo info_;
  std::int64_t rows_a_query_ = 1;  ///< as many as a network takes that takes no other number
  std::mutex mutex_;
  std::map<std::int64_t, RowRange> waiting_;  ///< by the query's id
  std::map<const RequestRows*, Asked*> asked_;
  std::int64_t next_ = 0;
  std::unique_ptr<ServedPredictor> served_;  ///< last: its threads use the others
};

}  // namespace d5::detail
