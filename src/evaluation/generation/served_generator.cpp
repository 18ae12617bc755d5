// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/served_generator.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/thread_pool/new_thread.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5 {

/// Waiting queries, which any thread adds, and the texts in slots, which only the generator's
/// thread touches.
struct ServedGenerator::Line {
  struct Text {
    std::int64_t id = 0, begun = 0;
    std::vector<TokenId> tokens = {};
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Query> waiting;
  bool closed = false;
  std::map<std::size_t, Text> texts;  ///< by slot
  std::thread thread;
};

ServedGenerator::ServedGenerator(std::shared_ptr<Generator> generator,
                                 std::vector<std::vector<TokenId>> prompts, GenerationLimits limits,
                                 Sampling sampling)
    : generator_(std::move(generator)),
      prompts_(std::move(prompts)),
      limits_(std::move(limits)),
      sampling_(sampling),
      line_(std::make_unique<Line>()) {
  if (prompts_.empty()) throw ValueError(name() + ": there are no prompts, expected one or more");
  line_->thread = detail::new_thread<std::thread>(name(), [this] { serve(); });
}

ServedGenerator::~ServedGenerator() {
  {
    const std::lock_guard lock(line_->mutex);
    line_->closed = true;
  }
  line_->changed.notify_all();
  line_->thread.join();
  constexpr std::string_view kClosed = "it was closed";
  fail_all(kClosed);
  for (const Query& query : line_->waiting) {
    complete({{.id = query.id, .status = Status::failed, .reason = kClosed}});
  }
}

std::string ServedGenerator::name() const { return generator_->name(); }
std::int64_t ServedGenerator::samples() const { return std::int64_t(prompts_.size()); }

void ServedGenerator::issue(std::span<const Query> queries) {
  {
    const std::lock_guard lock(line_->mutex);
    line_->waiting.insert(line_->waiting.end(), queries.begin(), queries.end());
  }
  line_->changed.notify_all();
}

void ServedGenerator::serve() {
  std::vector<Query> taken;
  for (;;) {
    {
      std::unique_lock lock(line_->mutex);
      line_->changed.wait(
          lock, [&] { return line_->closed || !line_->waiting.empty() || !line_->texts.empty(); });
      if (line_->closed) return;
      taken.clear();
      while (!line_->waiting.empty() && line_->texts.size() + taken.size() < generator_->slots()) {
        taken.push_back(line_->waiting.front());
        line_->waiting.pop_front();
      }
    }
    for (const Query& query : taken) admit(query);
    if (!line_->texts.empty()) step();
  }
}

void ServedGenerator::admit(const Query& query) {
  const std::int64_t now = Trace::now_ns();
  try {
    Sampling sampling = sampling_;
    sampling.request = std::uint32_t(query.sample);
    const std::size_t slot =
        generator_->admit(prompts_.at(std::size_t(query.sample)), limits_, sampling);
    line_->texts[slot] = {.id = query.id, .begun = now};
  } catch (const std::exception& error) {
    complete({{.id = query.id, .begun = now, .status = Status::failed, .reason = error.what()}});
  }
}

void ServedGenerator::step() {
  try {
    const auto batch = std::int32_t(line_->texts.size());
    for (const GeneratedToken& next : generator_->step()) {
      Line::Text& text = line_->texts.at(next.slot);
      text.tokens.push_back(next.token);
      progress({{.id = text.id}});
      if (!next.end) continue;
      complete({{.id = text.id,
                 .begun = text.begun,
                 .batch = batch,
                 .bytes = std::as_bytes(std::span(text.tokens)),
                 .tokens = std::int64_t(text.tokens.size())}});
      generator_->release(next.slot);
      line_->texts.erase(next.slot);
    }
  } catch (const std::exception& error) {  // all texts were in that run
    fail_all(error.what());
  }
}

void ServedGenerator::fail_all(std::string_view reason) {
  for (const auto& [slot, text] : line_->texts) {
    complete({{.id = text.id, .begun = text.begun, .status = Status::failed, .reason = reason}});
    generator_->release(slot);
  }
  line_->texts.clear();
}

}  // namespace d5
