// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/load/system_under_test.hpp"

namespace d5 {

/// What one instance does with a batch: the answers' bytes, one a sample, in the samples' order.
/// What it throws are failed answers of the whole batch.
using BatchAnswers = std::vector<std::vector<std::byte>>;
using AnswerBatch = std::function<BatchAnswers(std::span<const std::int64_t> samples)>;

struct ServedOptions {
  int instances = 1;               ///< each on a thread of its own
  std::int64_t largest_batch = 1;  ///< samples that an instance takes at once
  /// s that a query may wait for others to fill its batch; 0: an instance that is free takes what
  /// is there.
  double longest_wait = 0;
};

/// Queries wait in one line; instances that are free take batches from its head (dynamic batching).
///
///     ServedPredictor served("torch", data.size(),
///                            [&](int) -> AnswerBatch { return open_model(); },
///                            {.instances = 2, .largest_batch = 8, .longest_wait = 0.002});
///
/// A batch is taken once it is full, once its first query has waited as long as it may, or after
/// `flush`. `open` is called once an instance, on its own thread, one after the other: so that what
/// it opens may keep to that thread.
class ServedPredictor : public SystemUnderTest {
 public:
  using Open = std::function<AnswerBatch(int instance)>;
  /// Throws: ValueError for options that do not fit; Unsupported where the system makes no more
  /// threads; what `open` throws.
  ServedPredictor(std::string name, std::int64_t samples, const Open& open,
                  const ServedOptions& options = {});
  /// Waits for batches under way; queries that are in line are failed.
  ~ServedPredictor() override;
  ServedPredictor(const ServedPredictor&) = delete;
  ServedPredictor& operator=(const ServedPredictor&) = delete;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::int64_t samples() const override;
  void issue(std::span<const Query> queries) override;
  void flush() override;

 private:
  class Line;
  void begin(const Open& open, int instance);
  void serve(const AnswerBatch& answer);
  void end();
  std::string name_;
  std::int64_t samples_;
  std::unique_ptr<Line> line_;
};

}  // namespace d5
