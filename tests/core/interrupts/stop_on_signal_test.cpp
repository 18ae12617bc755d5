// SPDX-License-Identifier: Apache-2.0
#include "d5/core/interrupts/stop_on_signal.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

volatile std::sig_atomic_t former_calls = 0;
void count_call(int) { former_calls = former_calls + 1; }

/// Whether the token is asked before a patience runs out that no working one needs.
bool asked(const std::stop_token& token) {
  using namespace std::chrono_literals;
  for (int i = 0; i < 5000 && !token.stop_requested(); ++i) std::this_thread::sleep_for(1ms);
  return token.stop_requested();
}

}  // namespace

TEST_CASE("the first signal asks for a stop, the second does what it did before") {
  std::signal(SIGUSR1, count_call);
  former_calls = 0;
  std::stop_token token;
  {
    const StopOnSignal stop(SIGUSR1);
    token = stop.token();
    CHECK_FALSE(token.stop_requested());
    std::raise(SIGUSR1);
    CHECK(asked(token));
    CHECK(former_calls == 0);
    std::raise(SIGUSR1);
    CHECK(former_calls == 1);
  }
  std::raise(SIGUSR1);
  CHECK(former_calls == 2);
}

TEST_CASE("without a signal nothing is asked, and the former handler is there again") {
  std::signal(SIGUSR1, count_call);
  former_calls = 0;
  std::stop_token token;
  {
    const StopOnSignal stop(SIGUSR1);
    token = stop.token();
  }
  std::raise(SIGUSR1);
  CHECK(former_calls == 1);
  CHECK_FALSE(token.stop_requested());
}

TEST_CASE("a signal that the process ignores stays ignored") {
  std::signal(SIGUSR1, SIG_IGN);
  std::stop_token token;
  {
    const StopOnSignal stop(SIGUSR1);
    token = stop.token();
    std::raise(SIGUSR1);
    std::raise(SIGUSR1);
  }
  CHECK_FALSE(token.stop_requested());
}

TEST_CASE("one at a time handles a signal, and only one that can be handled") {
  {
    const StopOnSignal stop(SIGUSR1);
    CHECK_THROWS_AS(StopOnSignal(SIGUSR1), ValueError);
  }
  CHECK_THROWS_WITH(StopOnSignal(SIGKILL), Catch::Contains("Invalid argument"));
  CHECK_NOTHROW(StopOnSignal(SIGUSR1));
}

TEST_CASE("any of several signals asks, and it is known which; the next one ends as before") {
  std::signal(SIGUSR1, count_call);
  std::signal(SIGUSR2, count_call);
  former_calls = 0;
  const StopOnSignal stop(std::vector{SIGUSR1, SIGUSR2});
  CHECK(stop.arrived() == 0);
  std::raise(SIGUSR2);
  CHECK(asked(stop.token()));
  CHECK(stop.arrived() == SIGUSR2);
  CHECK(former_calls == 0);
  std::raise(SIGUSR1);
  CHECK(former_calls == 1);
}
