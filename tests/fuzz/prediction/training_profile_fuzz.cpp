// SPDX-License-Identifier: Apache-2.0
// Profiles of trainings: read, or refused. What was read is the same when it is read again, and
// gives times and a graph, or a reason why not.
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/profile/training_profile.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

const std::string& sound() {
  static const std::string text = [] {
    TrainingProfile profile{.model = "two",
                            .digest = "d",
                            .framework = "made up",
                            .optimizer = "sgd",
                            .threads = 1,
                            .machine = {{"cpu", "one"}}};
    profile.rates = {.reduce_bandwidth = 1e9, .scale_bandwidth = 2e9, .copy_bandwidth = 3e9};
    profile.parameters = {{"w2", 200}, {"w1", 100}};
    profile.pieces = {{.name = "l1", .kind = "forward", .op_type = "Gemm", .flop = 1e6},
                      {.name = "l2", .kind = "forward", .bytes = 100},
                      {.name = "l2", .kind = "backward", .final_parameters = {0}},
                      {.name = "l1", .kind = "backward", .final_parameters = {1}},
                      {.name = "w2", .kind = "update"},
                      {.name = "w1", .kind = "update"}};
    for (const std::int64_t batch : {8, 16}) {
      TrainingProfile::Times times{.batch = batch};
      times.seconds.assign(profile.pieces.size(), {1, 2, 3, 4});
      times.gaps.assign(profile.pieces.size(), {0, 0, 0, 0.5});
      times.steps = times.unobserved = {6, 12, 18, 27};
      profile.batches.push_back(times);
    }
    return to_json(profile);
  }();
  return text;
}

}  // namespace

std::string name() { return "training_profile"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  return one_in(random, 8) ? with_damage(sound(), random) : with_other_values(sound(), random);
}

std::string run_case(const std::string& text) {
  const TrainingProfile profile = training_profile_from_json(text, "case.json");
  const std::string once = to_json(profile);
  if (to_json(training_profile_from_json(once, "again.json")) != once)
    return "reads back otherwise";
  for (const std::int64_t batch : {1, 8, 12, 1000}) {
    if (!(step_times(profile, batch).step >= 0)) return "a step takes no time";
  }
  (void)data_parallel_graph(profile, {.batch = 8, .ranks = 4});
  return {};
}

}  // namespace d5::fuzz
