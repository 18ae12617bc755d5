// SPDX-License-Identifier: Apache-2.0
// Every cheat is caught by the name of its fault, and no honest source is refused. A row is a
// source in cheats/, and in controls/ one that does something alike in honesty.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/level0_ops/judge/judged.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

struct Cheat {
  std::string name, fault, control;
  int threads = 1;
  bool gradients = false;
};

const std::vector<Cheat>& cheats() {
  static const std::vector<Cheat> kCheats = {
      {"replay_by_address", "wrong answer", "kept_workspace"},
      {"replay_by_value", "wrong answer", "kept_workspace"},
      {"replay_by_digest", "wrong answer", "kept_workspace"},
      {"one_for_many", "wrong answer", "kept_workspace"},
      {"memory_search", "output not written", "counts_processors"},
      {"judge_memory_read", "forbidden system call", "counts_processors"},
      {"output_unwritten", "output not written", "plain"},
      {"input_overwritten", "wrote to an input", "kept_workspace"},
      {"past_the_end", "left its tensors", "plain"},
      {"freed_memory", "wrong answer", "kept_workspace"},
      {"lazy_thread", "too many threads", "plain"},
      {"lazy_thread", "output not written", "joined_thread", 2},
      {"lazy_process", "started a process", "joined_thread", 2},
      {"lazy_next_call", "output not written", "kept_workspace"},
      {"lazy_exit", "output not written", "plain"},
      {"lazy_signal", "output not written", "rounds_upward"},
      {"burning_thread", "too many threads", "plain"},
      {"early_stop", "stopped without returning", "rounds_upward"},
      {"preload", "forbidden system call", "own_clock"},
      {"warmup", "output not written", "plain"},
      {"results_overwritten", "wrote a file", "counts_processors"},
      {"network", "forbidden system call", "counts_processors"},
      {"every_tenth_skipped", "output not written", "plain"},
      {"multiples_of_eight", "wrong answer", "plain"},
      {"small_values", "wrong answer", "other_order"},
      {"half_precision", "wrong answer", "other_order"},
      {"not_a_number", "wrong answer", "plain"},
      {"batch_one", "output not written", "joined_thread", 2},
      {"gradient_left_out", "output not written", "gradient", 1, true},
  };
  return kCheats;
}

}  // namespace

TEST_CASE("a cheat is caught by name") {
  for (const auto& [name, fault, control, threads, gradients] : cheats()) {
    CAPTURE(name, threads);
    const auto records =
        judged("cheats/" + name, kCases, {.samples = 20, .gradients = gradients}, threads);
    const Measurement& failed = first_failed(records);
    INFO(failed.reason);
    CHECK(failed.status == Status::failed);
    CHECK(condition_of(failed, "fault") == fault);
    CHECK(failed.samples.empty());
  }
}

TEST_CASE("an honest source is not refused") {
  std::map<std::string, Cheat> controls;
  for (const Cheat& cheat : cheats()) controls[cheat.control] = cheat;
  for (const auto& [name, cheat] : controls) {
    CAPTURE(name);
    for (const Measurement& record :
         judged("controls/" + name, kCases, {.samples = 20, .gradients = cheat.gradients},
                cheat.threads)) {
      INFO(record.reason);
      CHECK(record.status != Status::failed);
      CHECK(condition_of(record, "answers") == "right");
      CHECK(record.samples.size() == 20);
    }
  }
}

TEST_CASE("every cheat and every control has a row") {
  for (const auto& name : sources_in("cheats")) {
    CAPTURE(name);
    CHECK(std::ranges::find(cheats(), name, &Cheat::name) != cheats().end());
  }
  for (const auto& name : sources_in("controls")) {
    CAPTURE(name);
    CHECK(std::ranges::find(cheats(), name, &Cheat::control) != cheats().end());
  }
}
