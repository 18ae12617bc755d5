// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "d5/evaluation/load/served_predictor.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "evaluation/run/answered_query.hpp"

namespace d5::detail {

/// A model with its pipeline, for concurrent queries. A preparing thread preprocesses each query;
/// it waits in the line of a `ServedPredictor`, whose instances predict batches; and an answering
/// thread postprocesses it. All three work at the same time, on different queries.
///
/// Bounds the queries that are prepared and not predicted, and those that are predicted and not
/// answered.
class PipelineServer final : public SystemUnderTest {
 public:
  /// The predictor of one instance, opened on its thread.
  using OpenPredictor = std::function<std::shared_ptr<Predictor>(int instance)>;
  struct Options {
    ServedOptions served = {};
    int instance_threads = 1;  ///< threads of each instance
    int stage_threads = 1;     ///< threads that preprocess
  };
  /// Throws: ValueError for invalid options; Unsupported if the system has no more threads; what
  /// `open` throws.
  PipelineServer(ModelPipeline& pipeline, std::string name, OpenPredictor open,
                 const Options& options);
  /// Waits for queries in progress; waiting queries fail.
  ~PipelineServer() override;
  PipelineServer(const PipelineServer&) = delete;
  PipelineServer& operator=(const PipelineServer&) = delete;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t samples() const override { return pipeline_.size(); }
  void load(std::span<const std::int64_t> samples) override { pipeline_.load(samples); }
  void unload() override { pipeline_.unload(); }
  void issue(std::span<const Query> queries) override;
  void flush() override;

 private:
  void prepare();
  void prepare_one(const Query& query);
  [[nodiscard]] AnswerBatch open_instance(int instance);
  void predict(Predictor& predictor, std::span<const std::int64_t> ids);
  void hear(std::span<const QueryAnswer> predicted);
  void answer();
  void end();

  ModelPipeline& pipeline_;
  const std::string name_;
  const OpenPredictor open_;
  const int instance_threads_;
  const std::size_t most_;  ///< tasks between two threads

  std::mutex mutex_;
  std::condition_variable asked_, predicted_, room_;
  std::deque<Query> waiting_;
  std::unordered_map<std::int64_t, AnsweredQuery> tasks_;  ///< by the query's id
  std::size_t preparing_ = 0;  ///< number of tasks on a preparing thread
  std::size_t prepared_ = 0;   ///< number of tasks that are prepared
  std::deque<AnsweredQuery> predicted_tasks_;
  bool flushed_ = false, closed_ = false, answered_ = false;

  std::unique_ptr<ServedPredictor> served_;
  std::vector<std::thread> before_;
  std::thread behind_;
};

}  // namespace d5::detail
