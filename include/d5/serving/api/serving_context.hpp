// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

class InferenceModels;  // d5/serving/inference/inference_models.hpp
class JobQueue;         // d5/serving/jobs/job_queue.hpp

/// What routes answer from. Thread safety: all functions.
class ServingContext {
 public:
  /// Makes the database where it is not there. Throws: as `EvaluationDatabase` and `JobQueue`.
  explicit ServingContext(std::string database);
  ~ServingContext();
  ServingContext(const ServingContext&) = delete;
  ServingContext& operator=(const ServingContext&) = delete;

  /// A connection of the caller's own, which goes back when the last copy of the pointer ends.
  [[nodiscard]] std::shared_ptr<const EvaluationDatabase> database();
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }

  /// Models that answer themselves; null where the server has none.
  [[nodiscard]] const std::shared_ptr<InferenceModels>& inference() const { return inference_; }
  /// Before the server begins.
  void set_inference(std::shared_ptr<InferenceModels> models) { inference_ = std::move(models); }

 private:
  std::string address_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EvaluationDatabase>> idle_;
  std::unique_ptr<JobQueue> jobs_;
  std::shared_ptr<InferenceModels> inference_;
};

}  // namespace d5
