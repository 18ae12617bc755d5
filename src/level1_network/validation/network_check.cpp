// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"
#include "d5/level1_network/validation/numeric_gradients.hpp"
#include "level1_network/source/input_drawing.hpp"
#include "level1_network/validation/moved_outputs.hpp"
#include "level1_network/validation/network_check_options.hpp"
#include "level1_network/validation/network_sides.hpp"
#include "level1_network/validation/reduced_folder.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

Settings check_wishes(const std::string& word, const NetworkCheckOptions& options) {
  Settings wishes = run_wishes(word, options.sizes, options.execution);
  wishes.set("with_loss", true);
  return wishes;
}

/// A framework compared with itself has passed nothing; records that are not evidence stay.
void skip_self_judgement(std::vector<Measurement>& results) {
  const auto has_passed = [](const Measurement& m) { return m.status == Status::passed; };
  const bool agrees = std::ranges::all_of(results, [&](const Measurement& m) {
    return has_passed(m) || m.status == Status::mistrusted;
  });
  const auto first = std::ranges::find_if(results, has_passed);
  if (!agrees || first == results.end()) return;
  std::rotate(results.begin(), first, first + 1);
  results.erase(std::remove_if(results.begin() + 1, results.end(), has_passed), results.end());
  results.front().status = Status::skipped;
  results.front().reason = fmt::format(
      "it ran, but no framework judges itself; check an ONNX test folder, see {}, or "
      "hold gradients against numeric ones, {}",
      option_word("against"), option_word("numeric"));
}

/// A failure, or a check without a result, may be due to the inputs: adds that advice.
void advise(Measurement& result, const NetworkInputs& fed) {
  if (result.reason.ends_with("give inputs") && !fed.made.empty()) {
    result.reason += "; " + advice_on(fed);
  }
  const bool compared = result.conditions.contains("tensor");
  if (result.status != Status::failed || compared || fed.made.empty()) return;
  result.reason += "; " + advice_on(fed);
}

/// The inputs, drawn in another way if the reference's outputs on them are not evidence.
NetworkInputs telling_inputs(GraphExecutor& reference, const NetworkInputs& fed,
                             const NetworkCheckOptions& options) {
  const InterruptibleRuns within(reference, options.interrupt);
  return inputs_that_tell(
      reference.network(), fed, options.sizes, options.execution.seed,
      [&](const ValueMap& inputs) { return outputs_that_say_nothing(reference, inputs); });
}

/// Compares outputs, and the gradients of all parameters if the network has a loss.
std::vector<Measurement> against_reference(const std::string& model, const std::string& word,
                                           const NetworkCheckOptions& options) {
  const Settings wishes = check_wishes(word, options);
  const Interrupt& interrupt = options.interrupt;
  const std::uint64_t seed = options.execution.seed;
  const Keeps keeps = kept_by(options.transforms);
  // A transform that rounds is applied to the reference, too: the rest is the framework's error.
  const bool same_network = options.transforms.empty() || keeps == Keeps::rounded;
  // Two separate networks, because both executors write gradients.
  Network transformed = open_model(model, wishes, options.transforms, interrupt);
  if (!same_network) forget_doubt(transformed);  // it is judged here
  const auto subject = open_executor(word, std::move(transformed), options.execution);
  const auto reference = open_executor(
      options.against,
      open_model(model, wishes, same_network ? options.transforms : TransformChain(), interrupt),
      {.seed = seed});
  NetworkInputs fed = network_inputs(model, *subject, options.sizes, options.inputs, seed);
  const ValueMap& inputs = fed.values;
  const std::string loss = keeps == Keeps::gradients ? loss_of(subject->network()) : "";
  const bool backward = !loss.empty() || options.backward;
  const auto test = [&] {
    return !backward ? test_executor(*subject, *reference, inputs, options.tolerance, interrupt)
                     : test_executor_backprop(*subject, *reference, inputs, loss, options.tolerance,
                                              interrupt);
  };
  auto results = test();
  if (std::ranges::any_of(results, detail::compared_nothing)) {
    fed = telling_inputs(*reference, fed, options);
    if (fed.drawing != 0) results = test();
  }
  for (auto& result : results) advise(result, fed);
  const bool same_device = options.execution.device == Device{};
  if (word == options.against && same_network && same_device) skip_self_judgement(results);
  for (auto& result : results) note_inputs(result, options.sizes, subject->network(), fed);
  if (options.numeric == 0) return results;
  if (loss.empty())
    throw Unsupported(option_word("numeric") + " compares gradients, but there is no loss");
  auto numeric = test_numeric_gradients(*subject, inputs, loss,
                                        {.elements = options.numeric, .seed = seed}, interrupt);
  std::ranges::move(numeric, std::back_inserter(results));
  return results;
}

NetworkSides sides_of(const std::string& model, const std::string& word,
                      const NetworkCheckOptions& options) {
  Network network =
      open_model(model, check_wishes(word, options), options.transforms, options.interrupt);
  const std::uint64_t seed = options.execution.seed;
  NetworkInputs fed = network_inputs(model, network, options.sizes, options.inputs, seed);
  if (!fed.made.empty()) {
    try {
      const auto reference = open_executor(options.against, network.copy(), {.seed = seed});
      fed = telling_inputs(*reference, fed, options);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {  // the comparison reports it
    }
  }
  ValueMap inputs = std::move(fed.values);
  return {.network = std::move(network),
          .inputs = std::move(inputs),
          .subject = [=, execution = options.execution](
                         Network part) { return open_executor(word, std::move(part), execution); },
          .reference =
              [=, against = options.against](Network part) {
                return open_executor(against, std::move(part), {.seed = seed});
              }};
}

/// Compares the same network in both, node by node.
std::vector<Measurement> node_by_node(const std::string& model, const std::string& word,
                                      const NetworkCheckOptions& options) {
  const NetworkSides sides = sides_of(model, word, options);
  return compare_nodes(sides.network, sides.subject, sides.reference, sides.inputs,
                       {.tolerance = options.tolerance, .interrupt = options.interrupt});
}

/// Leaves the part of the network that differs in a folder.
std::vector<Measurement> reduced(const std::string& model, const std::string& word,
                                 const NetworkCheckOptions& options) {
  (void)version_of(word);  // a missing framework is not a difference
  const NetworkSides sides = sides_of(model, word, options);
  auto record = reduce_to_folder(sides, word, options);
  const bool has_gradients = !options.backward && !loss_of(sides.network).empty();
  if (record.status == Status::passed && options.slower == 0) {
    const auto reference = sides.reference(sides.network.copy());
    const InterruptibleRuns within(*reference, options.interrupt);
    const std::size_t silent = outputs_that_say_nothing(*reference, sides.inputs);
    if (silent > 0) {
      detail::mistrust_uncompared(
          record, "",
          fmt::format("the reference's answers say nothing in {} outputs: give inputs", silent));
    }
  }
  if (record.status == Status::passed && has_gradients && options.slower == 0) {
    record.reason =
        "outputs agree; with " + option_word("backward") + " gradients are compared, too";
  }
  return {record};
}

ExecutorOptions execution_in(const std::string& word, const NetworkCheckOptions& options) {
  ExecutorOptions execution = options.execution;
  execution.frameworks = {word};
  return execution;
}

std::vector<Measurement> results_in(const std::string& model, const std::string& word,
                                    const NetworkCheckOptions& options) {
  try {
    if (!options.reduce.empty()) return reduced(model, word, options);
    if (options.by_node) return node_by_node(model, word, options);
    if (!detail::expects_outputs(model, options)) return against_reference(model, word, options);
    return test_folder(model, execution_in(word, options), options.tolerance, options.interrupt,
                       options.transforms);
  } catch (const Unsupported&) {
    Measurement refused = error_record();
    record_failure(refused, std::current_exception());
    return {refused};
  }
}

std::string check_line(const std::string& model, const std::string& word,
                       const NetworkCheckOptions& options) {
  CommandLine line("net check");
  line.word(model).append(to_line(options.sizes)).append(to_line(options.inputs));
  line.append(to_line(options.transforms));
  line.runs_in({word}, options.execution.device).option("--seed", options.execution.seed);
  line.options(options);
  if (options.reduce_seconds != NetworkCheckOptions().reduce_seconds) {
    line.option("--most-seconds", options.reduce_seconds);
  }
  line.append(execution_line(options.execution));
  if (const auto& tolerance = options.tolerance) {  // one that is left out is 0
    const bool exact = tolerance->relative == 0 && tolerance->absolute == 0;
    if (exact || tolerance->relative != 0) line.option("--rtol", tolerance->relative);
    if (exact || tolerance->absolute != 0) line.option("--atol", tolerance->absolute);
  }
  return line.append(options.command_options).text();
}

void check_in(const std::string& model, const std::string& word, const NetworkCheckOptions& options,
              std::vector<Measurement>& all) {
  for (auto& result : results_in(model, word, options)) {
    result.subject = model_name(model);
    result.command = check_line(model, word, options);
    if (!is_node_comparison(result)) result.level = "network";
    result.framework = word;
    result.device = to_string(options.execution.device);
    result.artefacts = {model_artefact(model)};
    if (!options.transforms.empty())
      result.conditions["transform"] = identity(to_words(options.transforms));
    note_execution(result, options.execution);
    all.push_back(std::move(result));
  }
}

void plan_in(const std::string& model, const std::string& word,
             const NetworkCheckOptions& options) {
  if (detail::expects_outputs(model, options)) {
    return plan_folder(model, execution_in(word, options), options.transforms);
  }
  const auto executor = open_executor(
      word, open_model(model, check_wishes(word, options), options.transforms), options.execution);
  const Network& network = executor->network();
  const NetworkInputs fed =
      network_inputs(model, network, options.sizes, options.inputs, options.execution.seed);
  with_advice(fed, [&] { executor->plan(fed.values, loss_of(network)); });
}

}  // namespace

std::vector<Measurement> check_network(const std::string& model,
                                       const NetworkCheckOptions& options) {
  expect_checkable(model, options);
  Measurement record = error_record();
  record.subject = model;
  record.level = "network";
  const auto checked = [&] {
    if (options.on_framework) options.on_framework();
  };
  return check_each(known_executor_words(options.frameworks), record, checked,
                    [&](const std::string& word, std::vector<Measurement>& results) {
                      check_in(model, word, options, results);
                    });
}

std::vector<Measurement> plan_network_check(const std::string& model,
                                            const NetworkCheckOptions& options) {
  expect_checkable(model, options);
  const OpenSizes sizes = with_named_batch(model, options.sizes);
  std::vector<Measurement> records;
  for (const auto& word : known_executor_words(options.frameworks)) {
    Measurement& record = records.emplace_back();
    record.subject = model_name(model);
    record.level = "network";
    record.framework = word;
    record.device = to_string(options.execution.device);
    record.conditions["batch"] = identity(sizes.batch);
    if (!options.transforms.empty())
      record.conditions["transform"] = identity(to_words(options.transforms));
    note_execution(record, options.execution);
    detail::plan_only(record, [&] { plan_in(model, word, options); });
  }
  return records;
}

}  // namespace d5
