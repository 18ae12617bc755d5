// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {

class InferenceModels;  // d5/serving/inference/inference_models.hpp
class TextModels;       // d5/serving/generators/text_models.hpp
namespace detail {
class KeptModels;
}
class JobQueue;  // d5/serving/jobs/job_queue.hpp

/// State from which routes answer. Thread safety: all functions.
class ServingContext {
 public:
  /// Creates a missing database. Throws: as `EvaluationDatabase` and `JobQueue`.
  explicit ServingContext(std::string database);
  ~ServingContext();
  ServingContext(const ServingContext&) = delete;
  ServingContext& operator=(const ServingContext&) = delete;

  /// A connection for the caller alone, which is returned when the last copy of the pointer is
  /// destroyed.
  [[nodiscard]] std::shared_ptr<const EvaluationDatabase> database();
  [[nodiscard]] JobQueue& jobs() { return *jobs_; }

  /// Models and data sets of others that this server keeps; null if it takes none.
  [[nodiscard]] detail::KeptModels* kept() const { return kept_.get(); }
  /// Call before the server begins. Throws: IoError for a folder that cannot be used, or that
  /// another server uses.
  void keep_models(const std::string& folder, std::uint64_t most_bytes);

  /// Models that this server runs; null without any.
  [[nodiscard]] const std::shared_ptr<InferenceModels>& inference() const { return inference_; }
  /// Call before the server begins.
  void set_inference(std::shared_ptr<InferenceModels> models) { inference_ = std::move(models); }

  /// Language models that this server generates text with; null without any.
  [[nodiscard]] const std::shared_ptr<TextModels>& generators() const { return generators_; }
  /// Call before the server begins.
  void set_generators(std::shared_ptr<TextModels> models) { generators_ = std::move(models); }

 private:
  std::string address_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EvaluationDatabase>> idle_;
  std::unique_ptr<JobQueue> jobs_;
  std::unique_ptr<detail::KeptModels> kept_;
  std::shared_ptr<InferenceModels> inference_;
  std::shared_ptr<TextModels> generators_;
};

}  // namespace d5
