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
  /// The subjects' networks are what `open` gives: where its answers are kept it is not opened.
  bool subjects_are_as_opened = false;
  /// Who judges where the reference cannot, words of `open_executor`; the first that can.
  std::function<std::vector<std::string>()> stand_ins = [] { return executor_words({"all"}); };
  /// Of those that are not opened by their word.
  std::function<std::shared_ptr<GraphExecutor>(const std::string& word)> open_stand_in = {};
  NetworkMode mode = NetworkMode::as_written;
  BackwardBegin begin = {};
  std::string of = {};       ///< what `begin` does, for what is kept: "inference", "training step"
  std::uint64_t seed = 0;    ///< of the reference
  double most_seconds = 60;  ///< that the reference may take
  Interrupt interrupt = {};
};

/// Opens `model` as the reference runs it: what a transform rounds, it rounds for the reference
/// too; the others keep what is computed, and are judged by the network before them.
[[nodiscard]] std::function<Network()> opens_judged(const std::string& model,
                                                    const Settings& wishes,
                                                    const TransformChain& transforms);

/// Judges executors of one network on the inputs that they are timed on, by what rounding explains
/// (`RoundingJudge`). The reference runs when the first of them is judged, and not at all where it
/// ran before: what it answered is kept (`kept_answers`).
///
/// Up to 64 bounds off is doubtful, beyond it is wrong.
///
/// Where the reference cannot run the network, or would take longer than `most_seconds`, the first
/// stand-in that can judges the others; what it says is not kept.
class NetworkJudge {
 public:
  explicit NetworkJudge(JudgedRun run) : run_(std::move(run)) {}
  NetworkJudge(const NetworkJudge&) = delete;
  NetworkJudge& operator=(const NetworkJudge&) = delete;

  /// `subject` is the executor of the framework `word`. What draws random numbers is not judged.
  /// After the clock it also runs on other inputs, in the same memory: whose answers stay the same,
  /// although the reference's do not, gives out what it kept. Throws: Interrupted.
  [[nodiscard]] Verdict judge(GraphExecutor& subject, const std::string& word,
                              const ValueMap& inputs, Subject::Moment moment);
  /// The same of answers that the caller has, before the clock.
  [[nodiscard]] Verdict judge(const std::vector<Answer>& answers, GraphExecutor& subject,
                              const std::string& word, const ValueMap& inputs);

 private:
  /// `subject` is the network of who is judged. Throws: what the reference throws; Interrupted.
  void prepare(const Network& subject, const ValueMap& inputs);
  void ask_reference(const Network& subject, const ValueMap& inputs);
  /// Has `word_` answer.
  void ask(ValueMap inputs);
  [[nodiscard]] std::string words_of(const Network& network, const ValueMap& inputs) const;
  [[nodiscard]] std::string who() const;
  /// An executor of who judges.
  [[nodiscard]] std::shared_ptr<GraphExecutor> made(Network network) const;
  GraphExecutor& opened();
  /// Empty: nothing speaks for that.
  [[nodiscard]] std::string stale_answers(GraphExecutor& subject, const ValueMap& inputs,
                                          const std::vector<Answer>& usual);

  JudgedRun run_;
  std::string word_ = {};  ///< of who judges
  std::shared_ptr<GraphExecutor> reference_ = {};
  std::optional<RoundingJudge> judge_ = {};
  std::string obstacle_ = {};  ///< why nobody judges
};

}  // namespace d5
