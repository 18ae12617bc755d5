// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "apps/execution_options.hpp"
#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/report/report.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "d5/level1_network/picture/network_drawing.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/picture/network_tables.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/plan/planning_report.hpp"

namespace d5::command {
namespace {

constexpr const char* kNetShowExamples =
    R"(  d5 net show lenet                             shapes, parameters, FLOP and bytes
  d5 net show resnet-50 --batch 64              the cost of a batch of 64, layer by layer
  d5 net show resnet-50 --by operator
  d5 net show model.onnx --by node --framework reference,torch
                                                which framework supports each node, and why not
  d5 net show lenet --format svg > lenet.svg    the graph
  d5 net show lenet --format dot | dot -Tpdf > lenet.pdf
  d5 net show lenet --batch 64 --memory-plan --format svg > memory.svg
                                                where the executor places each tensor, and how long
  d5 net show resnet-50 --batch 16 --memory-plan
                                                memory of each placement, and the lower bound of any
  d5 net show lenet --steps --framework torch --place Conv=reference,node:fc*=torch
                                                in which framework each node runs
  d5 net show resnet-50 --framework auto        the fastest framework, per node and for the whole network
  d5 net show resnet-50 --transform fold-batch-norm
                                                what a transform changes, and what it keeps
  d5 net show resnet-50 --by node --format csv)";

struct NetShowOptions : app::OutputOptions,
                        app::RunOptions,
                        app::ExecutionOptions,
                        app::ModelArgument {
  std::optional<SummaryBy> by;
  bool dot = false;  ///< print Graphviz's format
  bool memory_plan = false, steps = false, remeasure = false;
};

const std::map<std::string, Format> kFormats{{"table", Format::table},       {"json", Format::json},
                                             {"jsonl", Format::jsonl},       {"csv", Format::csv},
                                             {"markdown", Format::markdown}, {"html", Format::html},
                                             {"svg", Format::svg},           {"png", Format::png}};

Settings wishes_of(const NetShowOptions& options) {
  return run_wishes(options.frameworks.front(), app::sizes_of(options),
                    app::execution_of(options, options));
}

Network opened(const NetShowOptions& options) {
  return open_model(options.model, wishes_of(options), app::chain_of(options));
}

/// An executor that is planned for a run, with backward if the network has a loss.
std::shared_ptr<GraphExecutor> executor_of(const NetShowOptions& options, const std::string& word) {
  return open_executor(word, opened(options), app::execution_of(options, options));
}

NetworkInputs inputs_of(const NetShowOptions& options, GraphExecutor& executor) {
  return network_inputs(options.model, executor, app::sizes_of(options), app::inputs_of(options),
                        options.seed);
}

Report memory_report(const NetShowOptions& options) {
  const auto executor = executor_of(options, options.frameworks.front());
  const NetworkInputs inputs = inputs_of(options, *executor);
  const auto memory = plan_memory(*executor, inputs.values, loss_of(executor->network()));
  return {.title = options.model, .plots = memory_plots(memory)};
}

int draw(const NetShowOptions& options) {
  if (options.memory_plan) {
    app::print(to_text(memory_report(options), options.format), options.format);
  } else if (options.dot) {
    app::print(to_dot(opened(options)), options.format);
  } else if (options.format == Format::svg) {
    app::print(to_svg(opened(options)), options.format);
  } else {
    throw ValueError(
        "--format html and png draw the memory plan: add --memory-plan; use --format svg or dot to "
        "draw the graph");
  }
  return app::kPassed;
}

int show_steps(const NetShowOptions& options) {
  for (const auto& word : options.frameworks) {
    const auto executor = executor_of(options, word);
    const Network& network = executor->network();
    executor->plan(inputs_of(options, *executor).values, loss_of(network));
    app::print(to_table(planned_steps(*executor)), options.format);
  }
  return app::kPassed;
}

/// Whether the program measures which framework runs which node.
bool chooses(const std::string& word) {
  const auto names = ExecutorWord(word).frameworks();
  return std::ranges::find(names, "auto") != names.end();
}

int show_selection(const NetShowOptions& options, const std::string& word) {
  pin_threads();  // as `net bench` does, whose choice this shows
  const auto executor = executor_of(options, word);
  Network& network = executor->network();
  if (options.remeasure) (void)forget_selections(network);
  executor->plan(inputs_of(options, *executor).values, loss_of(network));
  const FrameworkSelection selection = framework_selection(*executor);
  if (is_for_people(options.format)) {
    app::print(summary_table(selection, options.format), options.format);
    fmt::print("\n");
  }
  app::print(to_table(selection, options.format), options.format);
  return app::kPassed;
}

/// Throws: ValueError for options that only a plan uses; a transform may use the memory limit.
void refuse_plan_options(const NetShowOptions& options) {
  const bool limited = options.memory_limit > 0 && app::chain_of(options).empty();
  if (!limited && options.recompute.empty() && options.places.empty()) return;
  throw ValueError(
      "net show: --memory, --recompute and --place affect a plan; give them with --memory-plan or "
      "--steps");
}

int run_net_show(const NetShowOptions& options) {
  app::apply(options);
  if (options.dot || is_drawn(options.format)) return draw(options);
  if (options.memory_plan) {
    app::print(planning_table(options.model, options.frameworks.front(), app::sizes_of(options),
                              app::execution_of(options, options), app::chain_of(options),
                              app::inputs_of(options)),
               options.format);
    return app::kPassed;
  }
  if (options.steps) return show_steps(options);
  if (options.frameworks.size() == 1 && chooses(options.frameworks.front())) {
    return show_selection(options, options.frameworks.front());
  }
  if (options.remeasure) throw ValueError("net show: --remeasure is for --framework auto");
  refuse_plan_options(options);
  Network network = open_model(options.model, {{"seed", options.seed}});
  const auto applied = apply_transforms(network, app::chain_of(options), wishes_of(options));
  const OpenSizes sizes =
      network_sizes(options.model, network, app::sizes_of(options), app::inputs_of(options));
  const NetworkSummary summary = summarise(network, sizes);
  const SummaryBy by = options.by.value_or(usual_parts(summary));
  const TextTable parts =  // first, because it may refuse a framework
      parts_table(network, summary, by, options.frameworks, options.format);
  if (options.format == Format::table) {
    if (!applied.empty()) {
      app::print(to_table(applied), options.format);
      fmt::print("\n");
    }
    app::print(facts_table(network, summary, options.model, sizes), options.format);
    fmt::print("\n");
  }
  app::print(parts, options.format);
  return app::kPassed;
}

void add_format_option(CLI::App& command, NetShowOptions& options) {
  std::map<std::string, std::string> words{{"dot", "dot"}};
  for (const auto& [word, format] : kFormats) words[word] = word;
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& word) {
            options.dot = word == "dot";
            if (!options.dot) options.format = kFormats.at(word);
          },
          "output format; svg and dot draw the graph")
      ->transform(app::one_of(words))
      ->option_text("table|json|jsonl|csv|markdown|dot|svg|png|html")
      ->group("Common options");
}

}  // namespace

void register_net_show(app::Program& program) {
  auto options = std::make_shared<NetShowOptions>();
  auto& command = program.add("net show", "show a network's structure, cost and framework support",
                              kNetShowExamples, [options] { return run_net_show(*options); });
  app::add_model_argument(command, options->model);
  app::add_size_options(command, *options);
  app::add_input_option(command, *options);
  app::add_transform_option(command, *options);
  const std::map<std::string, SummaryBy> parts{{"node", SummaryBy::node},
                                               {"layer", SummaryBy::layer},
                                               {"operator", SummaryBy::operator_type}};
  command
      .add_option("--by", options->by,
                  "kind of rows (by default nodes; for large networks layers, by the nodes' names)")
      ->transform(app::one_of(parts))
      ->option_text("node|layer|operator");
  command.add_flag(
      "--steps", options->steps,
      "show the steps that an executor would run, in order, with the framework of each");
  command.add_flag(
      "--memory-plan", options->memory_plan,
      "show the memory of inference and training under each placement of tensors; with --format "
      "svg, png or html draw where the executor places each tensor, and how long");
  command.add_flag("--remeasure", options->remeasure,
                   "measure again instead of reusing the stored choice, with --framework auto");
  app::add_framework_options(command, *options);
  app::add_threads_option(command, *options);
  app::add_execution_options(command, *options);
  add_format_option(command, *options);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
