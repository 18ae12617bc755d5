// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "d5/evaluation/load/load_clock.hpp"
#include "evaluation/generation/text_engine.hpp"
#include "evaluation/predictor/clockwork.hpp"

namespace d5::detail {

/// The engine of a clockwork: answers at known times, by the machine's clock. An answer's begin is
/// the moment of `ask`, or that at which a slot became free.
///
/// A text that asks for stop tokens ends after the clockwork's own number of tokens; one without
/// goes on to `most_tokens`. It generates the same token always, so that it knows no sampling, and
/// refuses stop texts.
class ClockworkEngine final : public TextEngine {
 public:
  explicit ClockworkEngine(const ClockworkOptions& options,
                           std::size_t most_waiting = std::numeric_limits<std::size_t>::max());
  ~ClockworkEngine() override;
  ClockworkEngine(const ClockworkEngine&) = delete;
  ClockworkEngine& operator=(const ClockworkEngine&) = delete;

  /// Bytes, and the token of a tick.
  [[nodiscard]] static std::shared_ptr<const Tokenizer> tokenizer();
  /// The token that a text gives as its stop token. No answer has it.
  static constexpr TokenId kEnd = 257;

  [[nodiscard]] std::string name() const override { return "clockwork"; }
  [[nodiscard]] std::int64_t capacity() const override;
  [[nodiscard]] std::optional<std::int64_t> ask(TextRequest request,
                                                std::shared_ptr<AnswerListener> listener) override;
  void drop(std::int64_t number) override;

 private:
  struct Text {
    std::shared_ptr<AnswerListener> listener = {};
    AnswerEnd end = AnswerEnd::stop_token;
  };
  void tick(const std::stop_token& stop);
  void tell(const QueryProgress& piece);
  void tell(const QueryAnswer& answer);

  const ClockworkOptions options_;
  const std::size_t most_waiting_;
  const std::vector<TokenId> ticks_;  ///< a piece's
  std::mutex mutex_;                  ///< guards the members up to `next_`
  Clockwork clockwork_;
  std::map<std::int64_t, Text> texts_;
  std::int64_t next_ = 0;
  std::shared_ptr<LoadClock> clock_;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace d5::detail
