// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Hooks of an executor whose network reads its own data.
class FeedEvent : public virtual Event {
 public:
  /// Called after the run on the last batch of `epoch`; the next run is on the next epoch's first
  /// one.
  virtual void after_epoch(Sampler& sampler, std::int64_t epoch) { (void)sampler, (void)epoch; }
};

/// Provides the current batch to `d5.NextBatch` nodes of a network. Each run that uses a batch
/// consumes it; epochs follow each other. Made by `feed_from`.
class NetworkFeed final : public ExecutionEvent {
 public:
  NetworkFeed(GraphExecutor& executor, std::shared_ptr<Sampler> sampler);

  /// Makes batch `index` of `epoch` the next run's. (The sampler's own `seek` would leave the
  /// current batch to the next run, and move only the ones after it.)
  /// Throws: ValueError past `batches()`.
  void seek(std::int64_t epoch, std::int64_t index);
  /// Batch of the current or last run; before the first run, the batch of that run.
  [[nodiscard]] const Batch& batch() const { return *batch_; }
  /// Type of a field; dimensions that vary from batch to batch are unknown.
  /// Throws: NotFound.
  [[nodiscard]] TensorDesc desc(const std::string& field) const;
  /// Field of `batch`, marked as used by this run: the next run takes another batch.
  [[nodiscard]] const Tensor& use(const std::string& field);

  void before_run(Pass pass) override;
  void after_run(Pass pass) override;

 private:
  void pull(std::int64_t next_epoch);

  GraphExecutor& executor_;
  std::shared_ptr<Sampler> sampler_;
  const Batch* batch_ = nullptr;
  std::int64_t even_size_ = 0;  // size of all batches; 0: it varies
  bool running_ = false;        // outside a run, kernels are tried on the current batch
  bool used_ = false;           // by this run
  std::vector<FeedEvent*> listeners_;
};

/// Replaces every input of the executor's network that is a field of the sampler's batches by a
/// node `NextBatch` of d5's ONNX domain, "d5". Each run then reads its own data, from the sampler's
/// current position on:
///
///     feed_from(*executor, samplers().at("shuffle").make(data, {{"tail", "drop"}}));
///     executor->events().add(watch);  // a FeedEvent, called at each epoch's end
///     executor->inference({});
///     optimizer->step({});
///
/// If all batches have the same size, plans are those for that size; otherwise shapes are found at
/// run time, which is slower. A `Trainer` feeds batches itself and refuses such a network. The
/// executor owns the feed (`events`), and each of its runs consumes one batch; other executors of
/// the network read the current batch.
/// Throws: NotFound if no input is such a field; TypeError if an element type differs; ValueError
/// for a sampler without batches.
std::shared_ptr<NetworkFeed> feed_from(GraphExecutor& executor, std::shared_ptr<Sampler> sampler);

/// Whether the network has a node from `feed_from`.
[[nodiscard]] bool pulls_data(const Network& network);

}  // namespace d5
