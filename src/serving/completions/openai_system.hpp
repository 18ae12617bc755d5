// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "d5/evaluation/predictor/text_predictor.hpp"
#include "d5/level2_training/data/tokenizer.hpp"
#include "serving/completions/completion_client.hpp"
#include "serving/completions/completion_request.hpp"
#include "serving/completions/completion_stream.hpp"
#include "serving/completions/token_account.hpp"

namespace d5::detail {

/// A server of OpenAI's interface as a system under test. The arrival of a piece is stamped when
/// its bytes are read; tokens are counted again after the run (`TokenAccount`).
class OpenaiSystem final : public SystemUnderTest {
 public:
  struct Options {
    std::string name = {}, base = {}, token = {};  ///< `base` is CompletionAddress's
    double seconds = 120;
    CompletionRequest request = {};
    bool is_fresh = true;                             ///< prompts begin with a nonce
    std::shared_ptr<const Tokenizer> tokenizer = {};  ///< the model's; null: not known
    bool has_byte_vocabulary = false;                 ///< the server says so
  };
  OpenaiSystem(Options options, Prompts& prompts);

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] std::int64_t samples() const override { return prompts_.size(); }
  void load(std::span<const std::int64_t> samples) override;
  void unload() override { prompts_.unload(); }
  [[nodiscard]] bool keeps_sessions() const override { return true; }
  [[nodiscard]] bool keeps_lengths() const override { return true; }
  void issue(std::span<const Query> queries) override;
  [[nodiscard]] SystemReport report() override;

 private:
  /// An answer under way, or one that is whole and will be counted.
  struct Answer {
    std::uint64_t run = 0;
    std::vector<std::string> turns = {};  ///< the user's, and answers between
    SessionTurn place = {};
    std::int64_t prompt_tokens = 0, shared_tokens = 0;  ///< lengths of a `DrawnText`, if any
    std::int64_t most_tokens = 0;                       ///< as asked for
    CompletionStream stream = {};
    std::int64_t tokens = 0;  ///< sum of its pieces
  };
  [[nodiscard]] std::vector<std::string> turns_of(const Query& query);
  void hear(std::int64_t id, std::string_view bytes);
  void end(std::int64_t id, int status, const std::string& reason);
  [[nodiscard]] Answer& at(std::int64_t id);
  void keep(Answer answer);  ///< under the lock

  const Options options_;
  const bool spaces_letters_;  ///< in prompts of given lengths
  Prompts& prompts_;
  std::uint64_t number_ = 0;  ///< number of the next nonce
  std::mutex mutex_;          ///< guards the members below
  std::uint64_t run_ = 0;     ///< drawn; a server remembers the prompts of the last run
  std::unordered_map<std::int64_t, Answer> under_way_;
  std::vector<Answer> whole_;
  std::unordered_map<std::int64_t, std::vector<std::string>> sessions_;  ///< what was said
  TokenAccount account_;
  std::int64_t begun_ns_ = 0;
  double busy_before_ = 0;
  CompletionClient client_;  ///< last: its thread uses the others
};

}  // namespace d5::detail
