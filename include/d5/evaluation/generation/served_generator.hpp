// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/evaluation/generation/generator.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5 {
namespace detail {
class TextEngine;
}

/// A generator that scenarios query. A thread steps it, and admits waiting queries in order of
/// arrival between steps, as slots become free; each token is a piece of its answer.
///
///     ServedGenerator served(generator, prompts, {.most_tokens = 64});
///
/// The answer of a sample is its tokens, as int64. Its draws are those of request number `sample`.
/// Prompts of given lengths are made of the tokens that the samples' prompts have.
class ServedGenerator final : public SystemUnderTest {
 public:
  /// Sample i is `prompts[i]`. The generator has no texts of others. Throws: ValueError without
  /// prompts; Unsupported if the system cannot create the thread.
  ServedGenerator(std::shared_ptr<Generator> generator, std::vector<std::vector<TokenId>> prompts,
                  GenerationLimits limits, Sampling sampling = {});
  /// Ends after the step under way; fails queries that are not answered.
  ~ServedGenerator() override;
  ServedGenerator(const ServedGenerator&) = delete;
  ServedGenerator& operator=(const ServedGenerator&) = delete;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t samples() const override;
  [[nodiscard]] bool keeps_sessions() const override { return true; }
  [[nodiscard]] bool keeps_lengths() const override { return true; }
  void load(std::span<const std::int64_t> samples) override;
  void issue(std::span<const Query> queries) override;

 private:
  class Answer;
  /// Tokens of a conversation, and those with the turn under way.
  struct Session {
    std::vector<TokenId> said = {}, asked = {};
  };
  [[nodiscard]] std::vector<TokenId> prompt_of(const Query& query);
  void keep(std::int64_t run, const SessionTurn& place, const std::vector<TokenId>& answer);
  std::string name_;
  std::vector<std::vector<TokenId>> prompts_;
  std::vector<TokenId> vocabulary_;  ///< tokens of the prompts, sorted
  GenerationLimits limits_;
  Sampling sampling_;
  std::mutex mutex_;      ///< guards the two below
  std::int64_t run_ = 0;  ///< number of `load`: later answers to an earlier run join no session
  std::map<std::int64_t, Session> sessions_;
  std::unique_ptr<detail::TextEngine> engine_;  ///< last: its thread uses the others
};

}  // namespace d5
