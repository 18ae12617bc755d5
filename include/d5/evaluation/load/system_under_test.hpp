// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// One sample that is asked for.
struct Query {
  std::int64_t id = 0;  ///< of no other query of this process, so that late answers are told apart
  std::int64_t sample = 0;
};

/// What a system says to a query. When it ended whoever asks reads from its own clock.
struct QueryAnswer {
  std::int64_t id = 0;
  std::int64_t begun = 0;  ///< ns on the monotonic clock: when computing it began; 0: unknown
  std::int32_t batch = 1;  ///< samples that were computed together
  Status status = Status::passed;         ///< passed or failed
  std::string_view reason = {};           ///< of a failure; read before the call returns
  std::span<const std::byte> bytes = {};  ///< the answer itself; copied where it is kept
};

/// What a scenario asks: a model behind its pipeline, a server elsewhere, nothing at all.
///
///     class Echo final : public SystemUnderTest {
///      public:
///       std::string name() const override { return "echo"; }
///       std::int64_t samples() const override { return 1000; }
///       void issue(std::span<const Query> queries) override {
///         for (const Query& query : queries) complete({{.id = query.id}});
///       }
///     };
///
/// One scenario drives it at a time. Thread safety: `complete` from any thread, during `issue` too;
/// the rest is called by the scenario's thread.
class SystemUnderTest {
 public:
  using Listener = std::function<void(std::span<const QueryAnswer>)>;

  virtual ~SystemUnderTest() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// How many there are: queries ask for 0 to one less.
  [[nodiscard]] virtual std::int64_t samples() const = 0;
  /// Before queries ask for these, outside the clock: what is slow to fetch is fetched here.
  virtual void load(std::span<const std::int64_t> samples) { (void)samples; }
  /// Those that `load` was told of are asked for no more.
  virtual void unload() {}
  /// Takes the queries, and answers each once with `complete`: before it returns, or later from a
  /// thread of its own. An exception counts as a refusal of those that are not answered yet.
  virtual void issue(std::span<const Query> queries) = 0;
  /// Nothing more is asked for now: whoever waits for a fuller batch waits no longer.
  virtual void flush() {}

  /// Who hears the answers, from now on; an empty function: nobody. The scenario calls it.
  /// Returns once nobody is inside the listener before.
  void on_complete(Listener listener) {
    const std::unique_lock lock(mutex_);
    listener_ = std::move(listener);
  }

 protected:
  void complete(std::span<const QueryAnswer> answers) const {
    const std::shared_lock lock(mutex_);
    if (listener_) listener_(answers);
  }
  void complete(std::initializer_list<QueryAnswer> answers) const {
    complete(std::span(answers.begin(), answers.size()));
  }

 private:
  mutable std::shared_mutex mutex_;
  Listener listener_;
};

}  // namespace d5
