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
#include "d5/evaluation/load/query_record.hpp"

namespace d5 {

/// Place of a query in a conversation. A session's turns follow one another.
struct SessionTurn {
  std::int64_t session = -1;  ///< number of the conversation in its run; below 0: none
  std::int64_t turn = 0;      ///< 0: it begins
};

/// A text of given lengths that a query asks for, in place of its sample's.
struct DrawnText {
  /// Random numbers, one a token of the prompt. The system chooses a token by each: in one run
  /// equal numbers are equal tokens, so that prompts share what their numbers share.
  std::span<const std::uint32_t> prompt = {};
  /// Tokens at the prompt's beginning that an earlier prompt of the run began with, too.
  std::int64_t shared_tokens = 0;
  std::int64_t answer_tokens = 0;  ///< the answer ends there, not before, as far as that can be
  std::int64_t number = 0;         ///< the request's in its trace
};

/// A request for one sample.
struct Query {
  std::int64_t id = 0;  ///< unique in this process, so that late answers can be recognised
  std::int64_t sample = 0;
  SessionTurn place = {};
  /// Null, or valid until `issue` returns: asks for this text. Only where `keeps_lengths`.
  const DrawnText* text = nullptr;
};

/// A system's answer to a query. The scenario reads the end time from its own clock.
struct QueryAnswer {
  std::int64_t id = 0;
  std::int64_t begun = 0;  ///< start of the computation, in ns on the monotonic clock; 0: unknown
  std::int32_t batch = 1;  ///< number of samples computed together
  Status status = Status::passed;         ///< passed or failed
  std::string_view reason = {};           ///< reason for a failure; read before the call returns
  std::span<const std::byte> bytes = {};  ///< the answer itself; copied if it is kept
  /// Tokens of the whole answer, as the system counts them; 0: the sum of its pieces.
  std::int64_t tokens = 0;
};

/// A piece of an answer in progress. The scenario reads its arrival from its own clock.
struct QueryProgress {
  std::int64_t id = 0;
  std::int64_t tokens = 1;  ///< tokens in the piece, below 2^32; 0 for a role or an empty piece
  PieceKind kind = PieceKind::content;
};

/// What a system found out about its own run, beside the answers.
struct SystemReport {
  Conditions conditions = {};
  std::string doubt = {};  ///< why the numbers of the run are doubtful; empty: they are not
  std::string fault = {};  ///< why the run is invalid; empty: it is not
};

/// A system that a scenario queries: a model with its pipeline, a remote server, a null system.
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
/// A system that generates tokens also calls `progress`, once per piece, before the query's
/// `complete`; its runs then have the metrics of tokens (`ttft`, `itl`, ...).
///
/// One scenario drives it at a time. Thread safety: `complete` and `progress` may be called from
/// any thread, also during `issue`; the scenario's thread calls all others.
class SystemUnderTest {
 public:
  using Listener = std::function<void(std::span<const QueryAnswer>)>;
  using ProgressListener = std::function<void(std::span<const QueryProgress>)>;

  virtual ~SystemUnderTest() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Number of samples; queries request samples 0 to samples() - 1.
  [[nodiscard]] virtual std::int64_t samples() const = 0;
  /// Loads samples before they are queried, outside the measured time.
  virtual void load(std::span<const std::int64_t> samples) { (void)samples; }
  /// Releases the samples of `load`; they are not queried again.
  virtual void unload() {}
  /// Accepts the queries and answers each once with `complete`: before it returns, or later from
  /// its own thread. An exception counts as a refusal of all queries not answered yet.
  virtual void issue(std::span<const Query> queries) = 0;
  /// Signals that no query follows for now: a system that waits for a fuller batch stops waiting.
  virtual void flush() {}
  /// Whether it keeps sessions: a turn's prompt is what was said in its session before, answers
  /// too, and then the sample's own. A turn that fails is as if it had not been asked.
  [[nodiscard]] virtual bool keeps_sessions() const { return false; }
  /// Whether it generates texts of given lengths (`Query::text`).
  [[nodiscard]] virtual bool keeps_lengths() const { return false; }
  /// Called once per run, after its last answer.
  [[nodiscard]] virtual SystemReport report() { return {}; }

  /// Sets the listeners of all further answers and pieces; empty functions remove them. The
  /// scenario calls it. Returns once no thread is inside the previous ones.
  void on_complete(Listener listener, ProgressListener progress = {}) {
    const std::unique_lock lock(mutex_);
    listener_ = std::move(listener);
    progress_ = std::move(progress);
  }

 protected:
  void complete(std::span<const QueryAnswer> answers) const {
    const std::shared_lock lock(mutex_);
    if (listener_) listener_(answers);
  }
  void complete(std::initializer_list<QueryAnswer> answers) const {
    complete(std::span(answers.begin(), answers.size()));
  }
  void progress(std::span<const QueryProgress> pieces) const {
    const std::shared_lock lock(mutex_);
    if (progress_) progress_(pieces);
  }
  void progress(std::initializer_list<QueryProgress> pieces) const {
    progress(std::span(pieces.begin(), pieces.size()));
  }

 private:
  mutable std::shared_mutex mutex_;
  Listener listener_;
  ProgressListener progress_;
};

}  // namespace d5
