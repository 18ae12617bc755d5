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

/// The function with which an instance answers a batch. Returns the bytes of one answer per sample,
/// in order. Its exceptions fail the whole batch.
using BatchAnswers = std::vector<std::vector<std::byte>>;
using AnswerBatch = std::function<BatchAnswers(std::span<const std::int64_t> samples)>;

struct ServedOptions {
  int instances = 1;               ///< instances, each on its own thread
  std::int64_t largest_batch = 1;  ///< maximum batch size of an instance
  /// Longest wait of a query, in s, for others to fill its batch; 0: an idle instance takes the
  /// queries that are there.
  double longest_wait = 0;
};

/// Dynamic batching: queries wait in one queue, and idle instances take batches from its head.
///
///     ServedPredictor served("torch", data.size(),
///                            [&](int) -> AnswerBatch { return open_model(); },
///                            {.instances = 2, .largest_batch = 8, .longest_wait = 0.002});
///
/// A batch is taken once it is full, once its first query has waited `longest_wait`, or after
/// `flush`. `open` is called once per instance, on the instance's thread, one after another, so
/// that a model may be bound to its thread.
class ServedPredictor : public SystemUnderTest {
 public:
  using Open = std::function<AnswerBatch(int instance)>;
  /// Throws: ValueError for options that do not fit; Unsupported if the system cannot create the
  /// threads; what `open` throws.
  ServedPredictor(std::string name, std::int64_t samples, const Open& open,
                  const ServedOptions& options = {});
  /// Waits for running batches; fails waiting queries.
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
