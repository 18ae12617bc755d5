// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/serving_context.hpp"

#include "d5/serving/jobs/job_queue.hpp"
#include "serving/kept/kept_models.hpp"

namespace d5 {

ServingContext::ServingContext(std::string database)
    : address_(std::move(database)), idle_(), jobs_(JobQueue::open(address_)) {}
ServingContext::~ServingContext() = default;

void ServingContext::keep_models(const std::string& folder, std::uint64_t most_bytes) {
  kept_ = std::make_unique<detail::KeptModels>(folder, most_bytes);
}

std::shared_ptr<const EvaluationDatabase> ServingContext::database() {
  std::unique_ptr<EvaluationDatabase> connection;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!connection) {
    connection = EvaluationDatabase::open(address_, {.access = EvaluationDatabase::Access::read});
  }
  const auto give_back = [this](EvaluationDatabase* used) {
    constexpr std::size_t kMostIdle = 8;
    std::unique_ptr<EvaluationDatabase> owned(used);
    const std::scoped_lock lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(owned));
  };
  return {connection.release(), give_back};
}

}  // namespace d5
