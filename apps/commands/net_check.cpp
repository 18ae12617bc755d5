// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "apps/ctrl_c.hpp"
#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_bench.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/level1_network/node_comparison.hpp"
#include "d5/level1_network/numeric_gradients.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetCheckExamples =
    R"(  d5 net check test_folder/                     against the outputs that the folder expects
  d5 net check model.onnx --framework torch     against the reference, on random inputs
  d5 net check model.onnx --framework all       every framework, and their own executors
  d5 net check lenet --framework torch --batch 8
                                                a built-in network: gradients too
  d5 net check lenet --numeric 8                gradients against finite differences
  d5 net check resnet-18 --transform fold-batch-norm
                                                a transformed network against the original
  d5 net check resnet-18 --framework torch --by-node
                                                which node differs first, and which by itself
  d5 net check test_folders/ --filter relu --out results.json --resume
                                                many, going on where it was cut short)";

struct NetCheckOptions : app::OutputOptions,
                         app::RunOptions,
                         app::ExecutionOptions,
                         app::ModelsArgument,
                         app::ListOptions,
                         app::ToleranceOptions {
  std::string against = "reference";
  bool by_node = false, backward = false;
  std::int64_t numeric = 0;  ///< elements of each parameter; 0: none
};

/// Outputs, and the gradients of all parameters where the network has a loss.
std::vector<Measurement> against_reference(const std::string& model, const NetCheckOptions& options,
                                           const std::string& word, const TransformChain& chain,
                                           const Interrupt& interrupt) {
  const ExecutorOptions execution = app::execution_of(options, options);
  Settings wishes = run_wishes(word, app::sizes_of(options), execution);
  wishes.set("with_loss", true);
  const Keeps keeps = kept_by(chain);
  // What a transform rounds, it rounds for the reference too: what is left is the framework's.
  const bool same_network = chain.empty() || keeps == Keeps::rounded;
  // Networks of their own: both executors write gradients.
  const auto subject = open_executor(word, open_model(model, wishes, chain, interrupt), execution);
  const auto reference =
      open_executor(options.against,
                    open_model(model, wishes, same_network ? chain : TransformChain(), interrupt),
                    {.seed = options.seed});
  const ValueMap inputs = random_inputs(subject->network(), app::sizes_of(options), options.seed);
  const std::string loss = keeps == Keeps::gradients ? loss_of(subject->network()) : "";
  const auto tolerance = app::tolerance_of(options);
  const bool backward = !loss.empty() || options.backward;
  auto results =
      !backward ? test_executor(*subject, *reference, inputs, tolerance, interrupt)
                : test_executor_backprop(*subject, *reference, inputs, loss, tolerance, interrupt);
  const bool all_passed =
      std::ranges::all_of(results, [](const Measurement& m) { return m.status == Status::passed; });
  if (word == options.against && same_network && all_passed && !results.empty()) {
    results.resize(1);
    results.front().status = Status::skipped;
    results.front().reason =
        "it ran, but no framework judges itself; check an ONNX test folder, see --against, or "
        "hold gradients against --numeric ones";
  }
  if (options.numeric == 0) return results;
  if (loss.empty())
    throw Unsupported("--numeric is of gradients, and there is no loss to have any");
  auto numeric = test_numeric_gradients(
      *subject, inputs, loss, {.elements = options.numeric, .seed = options.seed}, interrupt);
  std::ranges::move(numeric, std::back_inserter(results));
  return results;
}

/// The same network in both, node by node.
std::vector<Measurement> by_node(const std::string& model, const NetCheckOptions& options,
                                 const std::string& word, const TransformChain& chain,
                                 const Interrupt& interrupt) {
  Settings wishes = run_wishes(word, app::sizes_of(options), app::execution_of(options, options));
  wishes.set("with_loss", true);
  const Network network = open_model(model, wishes, chain, interrupt);
  const ValueMap inputs = is_test_folder(model)
                              ? folder_inputs(model, network)
                              : random_inputs(network, app::sizes_of(options), options.seed);
  const auto subject = [&](Network part) {
    return open_executor(word, std::move(part), app::execution_of(options, options));
  };
  const auto reference = [&](Network part) {
    return open_executor(options.against, std::move(part), {.seed = options.seed});
  };
  return compare_nodes(network, subject, reference, inputs,
                       {.tolerance = app::tolerance_of(options), .interrupt = interrupt});
}

std::vector<Measurement> results_of(const std::string& model, const NetCheckOptions& options,
                                    const std::string& word, const TransformChain& chain,
                                    const Interrupt& interrupt) {
  if (options.by_node) return by_node(model, options, word, chain, interrupt);
  if (!is_test_folder(model)) return against_reference(model, options, word, chain, interrupt);
  ExecutorOptions execution = app::execution_of(options, options);
  execution.frameworks = {word};
  return test_folder(model, execution, app::tolerance_of(options), interrupt, chain);
}

void check(const std::string& model, const NetCheckOptions& options, const std::string& word,
           const TransformChain& chain, const Interrupt& interrupt, std::vector<Measurement>& all) {
  std::vector<Measurement> results;
  try {
    results = results_of(model, options, word, chain, interrupt);
  } catch (const Unsupported&) {
    record_failure(results.emplace_back(error_record()), std::current_exception());
  }
  CommandLine line("net check");
  line.word(model).append(to_line(app::sizes_of(options))).append(to_line(chain));
  line.runs_in({word}, device_from_name(options.device)).option("--seed", options.seed);
  if (options.against != "reference") line.option("--against", options.against);
  if (options.by_node) line.flag("--by-node");
  if (options.backward) line.flag("--backward");
  if (options.numeric > 0) line.option("--numeric", options.numeric);
  line.append(execution_line(app::execution_of(options, options)));
  line.append(app::to_line(static_cast<const app::ToleranceOptions&>(options)));
  line.append(app::to_line(static_cast<const app::RunOptions&>(options)));
  for (auto& result : results) {
    result.subject = model_name(model);
    result.command = line.text();
    if (!is_node_comparison(result)) result.level = "network";
    result.framework = word;
    result.device = to_string(device_from_name(options.device));
    result.artefacts = {model_artefact(model)};
    if (!chain.empty()) result.conditions["transform"] = to_words(chain);
    note_execution(result, app::execution_of(options, options));
    all.push_back(std::move(result));
  }
}

/// Compiled for each framework, and not run.
std::vector<Measurement> plan_check(const std::string& model, const NetCheckOptions& options,
                                    const TransformChain& chain) {
  const auto plan_in = [&](const std::string& word) {
    ExecutorOptions execution = app::execution_of(options, options);
    execution.frameworks = {word};
    if (is_test_folder(model)) return plan_folder(model, execution, chain);
    Settings wishes = run_wishes(word, app::sizes_of(options), execution);
    wishes.set("with_loss", true);
    const auto executor = open_executor(word, open_model(model, wishes, chain), execution);
    const Network& network = executor->network();
    executor->plan(random_inputs(network, app::sizes_of(options), options.seed), loss_of(network));
  };
  return detail::plan_in_each(model,
                              {.frameworks = options.frameworks,
                               .sizes = app::sizes_of(options),
                               .transforms = chain,
                               .placement = app::placement_of(options),
                               .device = device_from_name(options.device),
                               .memory_limit = options.memory_limit,
                               .recompute = options.recompute},
                              "", plan_in);
}

int run_net_check(NetCheckOptions options) {
  if (options.backward && options.by_node) {
    throw ValueError("--by-node compares what nodes answer forward; leave out --backward");
  }
  for (const auto& model : options.models) {
    if (is_test_folder(model)) refuse_sizes(app::sizes_of(options), model);
    if (is_test_folder(model) && options.backward) {
      throw ValueError(
          fmt::format("--backward: test folder '{}' expects no gradients; name its "
                      "model.onnx",
                      printable(model)));
    }
  }
  app::apply(options, executor_words);
  const TransformChain chain = app::chain_of(options);
  if (options.backward && kept_by(chain) != Keeps::gradients) {
    throw ValueError(
        "--backward: a transform of the chain keeps no gradients ('d5 list transforms')");
  }
  const Interrupt interrupt = app::ctrl_c();
  std::vector<WorkPiece> work;
  for (const auto& model : models_of(options.models)) {
    WorkPiece& one = work.emplace_back();
    one.record = error_record();
    one.record.subject = model;
    one.record.level = "network";
    one.samples = std::int64_t(options.frameworks.size());
    one.run = [&, model, record = one.record](const std::function<void()>& sampled) {
      return check_each(options.frameworks, record, sampled, [&](const auto& word, auto& results) {
        check(model, options, word, chain, interrupt, results);
      });
    };
    one.plan = [&, model] { return plan_check(model, options, chain); };
  }
  return app::run_list(work, options, options);
}

}  // namespace

void register_net_check(app::Program& program) {
  auto options = std::make_shared<NetCheckOptions>();
  auto& command = program.add("net check", "is a network right", kNetCheckExamples,
                              [options] { return run_net_check(*options); });
  app::add_models_argument(command, *options);
  app::add_size_options(command, *options);
  app::add_transform_option(command, *options);
  app::add_list_options(command, *options);
  command
      .add_option("--against", options->against,
                  "the framework that models are held against; test folders bring what is expected")
      ->option_text("FRAMEWORK");
  command.add_flag("--backward", options->backward,
                   "parameters' gradients also where a network has no output 'loss': those of the "
                   "outputs times random numbers");
  command.add_flag("--by-node", options->by_node,
                   "which node differs: its error with all before it, and alone on right values");
  app::add_tolerance_options(command, *options, "the bound that rounding sets");
  command
      .add_option("--numeric", options->numeric,
                  "hold gradients against finite differences in float64 too: N elements of each "
                  "parameter")
      ->transform(app::whole_number(1))
      ->option_text("N");
  app::add_run_options(command, *options);
  app::add_execution_options(command, *options);
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
