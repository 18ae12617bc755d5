// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/agent_stream.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "serving/agent/agent_words.hpp"

namespace d5::detail {
namespace {

/// Maximum delay until a change in the queue by another process is seen.
constexpr std::chrono::milliseconds kLookAgain{500};

}  // namespace

void AgentStream::attend() {
  agent::FromAgent said;
  if (!wire_.Read(&said)) return;
  if (!said.has_hello()) throw FormatError("an agent says hello first");
  greet(said.hello());
  const std::jthread dispatcher([this](const std::stop_token& stop) {
    try {
      dispatch(stop);
    } catch (const std::exception&) {  // the database is gone: the agent reconnects
      end();
    }
  });
  while (wire_.Read(&said)) hear(said);
}

AgentStream::~AgentStream() {
  const std::lock_guard lock(hall_.mutex);
  const auto present = hall_.present.find(name_);
  if (present != hall_.present.end() && present->second == this) hall_.present.erase(present);
}

void AgentStream::greet(const agent::Hello& hello) {
  if (hello.protocol() != kAgentProtocol) {
    throw ValueError(
        fmt::format("the agent speaks protocol {}, this server {}; install the same d5",
                    hello.protocol(), kAgentProtocol));
  }
  const AgentFacts facts = agent_facts(hello.facts(), "an agent's facts");
  name_ = facts.name;
  {
    const std::lock_guard lock(hall_.mutex);
    if (hall_.closing) throw Unsupported("the server stops");
    AgentStream*& present = hall_.present[name_];
    if (present) present->end();  // it leases nothing more
    present = this;
  }
  hall_.queue.publish(facts);
  std::vector<Lease> kept;
  for (const auto& attempt : hello.kept()) kept.push_back(lease_of(attempt));
  (void)hall_.queue.take_back(name_, kept, "its agent restarted");
  agent::ToAgent words;
  words.mutable_welcome()->set_protocol(kAgentProtocol);
  say(words);
  for (const auto& attempt : hello.kept()) {  // a dead server may have learned that it began
    has(attempt);
    if (!hall_.queue.begin(lease_of(attempt))) say_gone(attempt);
  }
}

void AgentStream::dispatch(const std::stop_token& stop) {
  std::int64_t seen = -1;
  while (!stop.stop_requested()) {
    seen = hall_.queue.wait(seen, kLookAgain);
    std::vector<agent::Attempt> attempts;
    {
      const std::lock_guard lock(mutex_);
      attempts = attempts_;
    }
    for (const agent::Attempt& attempt : attempts) {
      if (!hall_.queue.is_held(lease_of(attempt))) say_gone(attempt);
    }
    lease_if_ready();
  }
}

void AgentStream::lease_if_ready() {
  std::optional<Lease> lease;
  {
    const std::lock_guard lock(mutex_);
    if (!ready_) return;
    const std::lock_guard one_stream_of_a_name(hall_.mutex);
    if (hall_.closing || hall_.present[name_] != this) return;
    lease = hall_.queue.lease(name_);
    if (!lease && std::exchange(told_nothing_, true)) return;
    if (lease) {
      ready_ = false;
      attempts_.push_back(attempt_of(*lease));
    }
  }
  agent::ToAgent words;
  if (lease) {
    *words.mutable_work()->mutable_attempt() = attempt_of(*lease);
    words.mutable_work()->set_manifest(lease->manifest);
  } else {
    (void)words.mutable_nothing();
  }
  say(words);
}

void AgentStream::hear(const agent::FromAgent& said) {
  switch (said.what_case()) {
    case agent::FromAgent::kHeartbeat:
      hall_.queue.heartbeat(name_);
      return;
    case agent::FromAgent::kReady: {
      {
        const std::lock_guard lock(mutex_);
        ready_ = true;
        told_nothing_ = false;
      }
      return lease_if_ready();
    }
    case agent::FromAgent::kBegun: {
      has(said.begun());
      if (!hall_.queue.begin(lease_of(said.begun()))) say_gone(said.begun());
      return;
    }
    case agent::FromAgent::kProgress:
      (void)hall_.queue.progress(lease_of(said.progress().attempt()), said.progress().text());
      return;
    case agent::FromAgent::kSpool:
      return intake_.add(said.spool().bytes());
    case agent::FromAgent::kOutcome:
      return conclude(said.outcome());
    default:
      throw FormatError("an agent sent a message that this server does not know");
  }
}

void AgentStream::conclude(const agent::Outcome& outcome) {
  const Lease lease = lease_of(outcome.attempt());
  has_no_more(outcome.attempt());
  if (outcome.end() == agent::Outcome::LOST) {
    (void)hall_.queue.give_back(lease, outcome.reason());
  } else if (outcome.end() == agent::Outcome::FAILED) {
    (void)hall_.queue.finish(lease, JobState::failed, outcome.reason());
  } else if (hall_.queue.is_held(lease)) {
    try {
      const std::lock_guard lock(hall_.results_mutex);
      intake_.adopt_into(hall_.results, run_of_part(lease.job, lease.part), outcome.sha256());
      (void)hall_.queue.finish(lease, JobState::done, outcome.reason());
    } catch (const FormatError& error) {
      (void)hall_.queue.give_back(lease, error.what());
    } catch (const ValueError& error) {
      (void)hall_.queue.give_back(lease, error.what());
    }
  }
  intake_.forget();
  agent::ToAgent words;
  *words.mutable_taken() = outcome.attempt();
  say(words);
}

void AgentStream::say(const agent::ToAgent& words) {
  const std::lock_guard lock(writing_);
  (void)wire_.Write(words);  // if it breaks, the next read ends
}

void AgentStream::say_gone(const agent::Attempt& attempt) {
  agent::ToAgent words;
  *words.mutable_gone() = attempt;
  say(words);
  has_no_more(attempt);
}

void AgentStream::has(const agent::Attempt& attempt) {
  has_no_more(attempt);
  const std::lock_guard lock(mutex_);
  attempts_.push_back(attempt);
}

void AgentStream::has_no_more(const agent::Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  std::erase_if(attempts_, [&](const agent::Attempt& other) {
    return lease_of(other).is_same_attempt(lease_of(attempt));
  });
}

Lease AgentStream::lease_of(const agent::Attempt& attempt) const {
  return detail::lease_of(attempt, name_);
}

}  // namespace d5::detail
