// SPDX-License-Identifier: Apache-2.0
// One network in two frameworks: convolutions in torch, if available, all else in the reference;
// and the cost of each node in its framework.
#include <d5/d5.hpp>
#include <iostream>

namespace {

/// Whether the framework can be loaded; it is optional.
bool is_there(const std::string& name) {
  try {
    (void)d5::framework(name);
    return true;
  } catch (const d5::Error& error) {
    std::cout << error.what() << "\n";
    return false;
  }
}

}  // namespace

int main() {
  d5::ExecutorOptions options{.frameworks = {"reference"}};
  if (is_there("torch")) options.placement = {d5::placement_rule("Conv=torch")};

  const d5::Network network = d5::models().at("lenet").make({{"seed", 1}});
  const auto mixed = d5::make_executor(network, options);
  const auto reference = d5::make_executor(network.copy());
  const d5::ValueMap inputs = d5::random_inputs(network, {.batch = 8});

  mixed->plan(inputs);
  std::cout << d5::to_table(d5::planned_steps(*mixed)).to_text(d5::Format::table) << "\n";

  // Right first, then fast.
  const auto records = d5::test_executor(*mixed, *reference, inputs);
  const auto times = d5::measure_side_by_side(
      {{.record = {.subject = "lenet", .framework = "reference"},
        .run = [&] { reference->inference(inputs); }},
       {.record = {.subject = "lenet", .framework = to_words(options.placement)},
        .run = [&] { mixed->inference(inputs); }}});
  std::cout << d5::to_table(records) << "\n" << d5::to_table(times);
  return d5::exit_status(records);
}
