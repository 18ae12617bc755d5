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

/// Hooks of an executor whose network pulls its own data.
class FeedEvent : public virtual Event {
 public:
  /// After the run on the last batch of `epoch`; the next run is on the first one of the next.
  virtual void after_epoch(Sampler& sampler, std::int64_t epoch) { (void)sampler, (void)epoch; }
};

/// What a node `d5.NextBatch` of a network reads: the batch that the executor's run is on. Each run
/// that uses a batch takes one, and the epochs follow each other. Made by `feed_from`.
class NetworkFeed final : public ExecutionEvent {
 public:
  NetworkFeed(GraphExecutor& executor, std::shared_ptr<Sampler> sampler);

  /// The next run is on batch `index` of `epoch`. The sampler's own `seek` would leave the batch at
  /// hand to the next run, and move what comes after it.
  /// Throws: ValueError past `batches()`.
  void seek(std::int64_t epoch, std::int64_t index);
  /// Of the run under way, or of the last one; before the first, that of the first.
  [[nodiscard]] const Batch& batch() const { return *batch_; }
  /// One sample's dimensions as the batch's, those that differ from batch to batch unknown.
  /// Throws: NotFound.
  [[nodiscard]] TensorDesc desc(const std::string& field) const;
  /// A field of `batch`, which a run uses by it: the next run takes another.
  [[nodiscard]] const Tensor& use(const std::string& field);

  void before_run(Pass pass) override;
  void after_run(Pass pass) override;

 private:
  void pull(std::int64_t next_epoch);

  GraphExecutor& executor_;
  std::shared_ptr<Sampler> sampler_;
  const Batch* batch_ = nullptr;
  std::int64_t even_size_ = 0;  // of all batches; 0: they differ
  bool running_ = false;        // outside of a run kernels are tried, on the batch at hand
  bool used_ = false;           // by this run
  std::vector<FeedEvent*> listeners_;
};

/// Puts a node `NextBatch` of d5's own ONNX domain, "d5", in the place of every input of the
/// executor's network that is a field of the sampler's batches, so that each run pulls its own
/// data, from the sampler's place on:
///
///     feed_from(*executor, samplers().at("shuffle").make(data, {{"tail", "drop"}}));
///     executor->events().add(watch);  // a FeedEvent is told of each epoch's end
///     executor->inference({});
///     optimizer->step({});
///
/// Where all batches are of one size, plans are as they are with that size; otherwise shapes are
/// found while running, which is slower. A `Trainer` feeds by itself and refuses such a network.
/// The executor owns the feed (`events`), and each run of it takes one batch; others that share the
/// network read the batch at hand. Throws: NotFound where no input is such a field; TypeError where
/// one is of another element type; ValueError for a sampler without batches.
std::shared_ptr<NetworkFeed> feed_from(GraphExecutor& executor, std::shared_ptr<Sampler> sampler);

/// Whether the network has a node that `feed_from` put there.
[[nodiscard]] bool pulls_data(const Network& network);

}  // namespace d5
