// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/load/served_predictor.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/serving/inference/inference_models.hpp"
#include "serving/inference/isolated_predictor.hpp"
#include "serving/inference/kept_statistics.hpp"
#include "serving/inference/request_rows.hpp"

namespace d5::detail {

/// An open model with its queue of requests.
/// Thread safety: any number of threads.
class ServedModel {
 public:
  /// Throws: what opening throws; Unsupported for a network whose inputs have no batch dimension.
  ServedModel(std::string name, std::string version, const ModelAssets& assets,
              const InferenceOptions& options);
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  [[nodiscard]] const InferenceModelInfo& info() const { return info_; }
  [[nodiscard]] const InferenceModelConfig& config() const { return config_; }
  [[nodiscard]] InferenceModelStatistics statistics();
  /// Throws: as `InferenceModels::infer`.
  [[nodiscard]] InferenceResponse infer(const InferenceRequest& request);
  /// Why no instance is open now; empty: one is.
  [[nodiscard]] std::string why_not_ready();

 private:
  struct Asked;
  /// State of an instance in its own process, for other threads.
  struct Isolated {
    std::shared_ptr<IsolatedPredictor> predictor;
    std::string loss = {};    ///< why it is not open; empty: it is open
    bool is_waiting = false;  ///< it waits before a restart
  };
  AnswerBatch open_instance(const ModelAssets& assets, const InferenceOptions& options);
  AnswerBatch open_isolated(const ModelAssets& assets, const InferenceOptions& options);
  [[nodiscard]] PredictorOptions options_of(const InferenceOptions& options) const;
  [[nodiscard]] ValueMap ask(const RequestRows& rows, RequestTimes& times);
  [[nodiscard]] InferenceResponse response_of(const InferenceRequest& request,
                                              const ValueMap& outputs) const;
  void answer(std::span<const std::int64_t> ids, Predictor& predictor);
  [[nodiscard]] std::vector<RowRange> taken(std::span<const std::int64_t> ids);
  void keep(std::span<const std::int64_t> ids, std::vector<RangeAnswer> answers);
  void hear(std::span<const QueryAnswer> answers);
  void bring_back(std::size_t instance);

  // Under the lock.
  struct Waiting {
    RowRange range;
    bool is_taken = false;  ///< by an instance
  };
  using Place = std::map<std::int64_t, Waiting>::iterator;
  Place end_query(Place place, std::exception_ptr fault = {});
  [[nodiscard]] std::string why_nobody_answers() const;
  void refuse_waiting(const std::string& why);

  InferenceModelInfo info_;
  InferenceModelConfig config_;
  KeptStatistics statistics_;
  std::int64_t rows_a_query_ = 1;  ///< as many as a network takes that takes no other number
  std::mutex mutex_;
  std::map<std::int64_t, Waiting> waiting_;  ///< by the query's id, until it is answered
  std::map<const RequestRows*, Asked*> asked_;
  std::int64_t next_ = 0;
  std::vector<Isolated> isolated_;  ///< none where instances run in this process
  bool is_ending_ = false;
  std::condition_variable ending_;
  std::unique_ptr<ServedPredictor> served_;  ///< last: its threads use the others
};

}  // namespace d5::detail
