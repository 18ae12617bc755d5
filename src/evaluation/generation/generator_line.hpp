// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evaluation/generation/text_engine.hpp"

namespace d5::detail {

/// The engine over a `Generator`: a thread steps it, and between steps admits waiting texts in
/// order of arrival, as slots become free. Each token is a piece.
class GeneratorLine final : public TextEngine {
 public:
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();
  /// The generator has no texts of others. `most_waiting`: texts in line beyond the slots.
  /// Throws: Unsupported if the system cannot create the thread.
  explicit GeneratorLine(std::shared_ptr<Generator> generator,
                         std::size_t most_waiting = kUnbounded);
  /// Ends after the step under way.
  ~GeneratorLine() override;
  GeneratorLine(const GeneratorLine&) = delete;
  GeneratorLine& operator=(const GeneratorLine&) = delete;

  [[nodiscard]] std::string name() const override { return generator_->name(); }
  [[nodiscard]] std::int64_t capacity() const override { return generator_->capacity(); }
  [[nodiscard]] std::optional<std::int64_t> ask(TextRequest request,
                                                std::shared_ptr<AnswerListener> listener) override;
  void drop(std::int64_t number) override;

 private:
  struct Waiting {
    std::int64_t number = 0;
    TextRequest request = {};
    std::shared_ptr<AnswerListener> listener = {};
  };
  struct Text {
    std::int64_t number = 0, begun = 0;
    std::shared_ptr<AnswerListener> listener = {};
  };
  void serve();
  /// Waits for work. Returns texts for free slots; nothing once it is closed.
  std::optional<std::vector<Waiting>> take();
  void admit(const Waiting& text);
  void step();
  void end(std::size_t slot, const AnswerOutcome& outcome);
  void fail_all(const std::exception_ptr& fault);

  const std::shared_ptr<Generator> generator_;
  const std::size_t most_waiting_;
  std::mutex mutex_;  ///< guards the members up to `closed_`
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::vector<std::int64_t> dropped_;  ///< numbers of texts that are in slots, or on their way
  std::int64_t next_ = 0;
  std::size_t open_ = 0;  ///< texts that are not over
  bool closed_ = false;
  std::map<std::size_t, Text> texts_;  ///< by slot; the engine's thread alone touches them
  std::thread thread_;
};

}  // namespace d5::detail
