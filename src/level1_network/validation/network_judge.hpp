// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "level1_network/validation/rounding_judge.hpp"

namespace d5 {

/// On what executors are judged.
struct JudgedRun {
  std::function<Network()> open;  ///< the network, with values of its own
  /// The subjects' networks equal the result of `open`: with cached answers it is not called.
  bool subjects_are_as_opened = false;
  /// Substitutes if the reference cannot judge, words of `open_executor`; the first that can is
  /// used.
  std::function<std::vector<std::string>()> stand_ins = [] { return executor_words({"all"}); };
  /// Opens substitutes that are not opened by their word.
  std::function<std::shared_ptr<GraphExecutor>(const std::string& word)> open_stand_in = {};
  NetworkMode mode = NetworkMode::as_written;
  BackwardBegin begin = {};
  std::string of = {};       ///< kind of `begin`, for the cache: "inference", "training step"
  std::uint64_t seed = 0;    ///< seed of the reference
  double most_seconds = 60;  ///< time limit of the reference
  Interrupt interrupt = {};
};

/// Opens `model` as the reference runs it: a transform that rounds is applied for the reference,
/// too; with others the network before them is used.
[[nodiscard]] std::function<Network()> opens_judged(const std::string& model,
                                                    const Settings& wishes,
                                                    const TransformChain& transforms);

/// Judges executors of one network on the inputs of their timing, by the rounding bound
/// (`RoundingJudge`). The reference runs when the first of them is judged, unless its outputs are
/// cached (`kept_answers`).
///
/// An error up to 64 bounds is doubtful, above it is wrong.
///
/// If the reference cannot run the network, or would take longer than `most_seconds`, the first
/// substitute that can judges the others; its outputs are not cached.
class NetworkJudge {
 public:
  explicit NetworkJudge(JudgedRun run) : run_(std::move(run)) {}
  NetworkJudge(const NetworkJudge&) = delete;
  NetworkJudge& operator=(const NetworkJudge&) = delete;

  /// `subject` is the executor of the framework `word`. Networks that draw random numbers are not
  /// judged. After the clock it also runs on other inputs, in the same memory: if its outputs do
  /// not change although the reference's do, it is returning cached results. Throws: Interrupted.
  [[nodiscard]] Verdict judge(GraphExecutor& subject, const std::string& word,
                              const ValueMap& inputs, Subject::Moment moment);
  /// The same for answers that the caller has, before the clock.
  [[nodiscard]] Verdict judge(const std::vector<Answer>& answers, GraphExecutor& subject,
                              const std::string& word, const ValueMap& inputs);

 private:
  /// `subject` is the network of the judged executor. Throws: what the reference throws;
  /// Interrupted.
  void prepare(const Network& subject, const ValueMap& inputs);
  void ask_reference(const Network& subject, const ValueMap& inputs);
  /// Has `word_` answer.
  void ask(ValueMap inputs);
  [[nodiscard]] std::string words_of(const Network& network, const ValueMap& inputs) const;
  [[nodiscard]] std::string who() const;
  /// An executor of the judging framework.
  [[nodiscard]] std::shared_ptr<GraphExecutor> made(Network network) const;
  GraphExecutor& opened();
  /// Empty: nothing speaks for that.
  [[nodiscard]] std::string stale_answers(GraphExecutor& subject, const ValueMap& inputs,
                                          const std::vector<Answer>& usual);

  JudgedRun run_;
  std::string word_ = {};  ///< the judging framework
  std::shared_ptr<GraphExecutor> reference_ = {};
  std::optional<RoundingJudge> judge_ = {};
  std::string obstacle_ = {};  ///< reason why no framework judges
};

}  // namespace d5
