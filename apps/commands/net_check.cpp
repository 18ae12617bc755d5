// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "apps/model_argument.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/level1_network/network_validation.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 net check test_folder/                     against the outputs that the folder expects
  d5 net check model.onnx --framework torch     against the reference, on random inputs
  d5 net check lenet --framework torch --batch 8
                                                a built-in network: gradients too)";

struct Options : app::OutputOptions, app::RunOptions, app::ModelArgument {};

/// Outputs, and the gradients of all parameters where the network has a loss.
std::vector<Measurement> against_reference(const Options& options, const std::string& word) {
  const Settings model{{"seed", options.seed}, {"with_loss", true}};
  // Networks of their own: both executors write gradients.
  const auto subject = app::open_executor(word, app::open_network(options, model), options.seed);
  const auto reference =
      app::open_executor("reference", app::open_network(options, model), options.seed);
  const ValueMap inputs = app::random_inputs(subject->network(), options, options.seed);
  const std::string loss = app::loss_of(subject->network());
  auto results = loss.empty() ? test_executor(*subject, *reference, inputs)
                              : test_executor_backprop(*subject, *reference, inputs, loss);
  const bool all_passed =
      std::ranges::all_of(results, [](const Measurement& m) { return m.status == Status::passed; });
  if (word == "reference" && all_passed && !results.empty()) {
    results.resize(1);
    results.front().status = Status::skipped;
    results.front().reason =
        "it ran, but the reference is no judge of itself; check an ONNX test folder";
  }
  return results;
}

std::vector<Measurement> check(const Options& options, const std::string& word) {
  std::vector<Measurement> results;
  try {
    results = app::is_test_folder(options.model)
                  ? test_folder(options.model,
                                {.frameworks = app::frameworks_in(word), .seed = options.seed})
                  : against_reference(options, word);
  } catch (const Unsupported& error) {
    Measurement& refused = results.emplace_back();
    refused.status = Status::unsupported;
    refused.reason = error.what();
  }
  for (auto& result : results) {
    result.subject = result.subject.empty() ? options.model : result.subject;
    result.command = fmt::format("d5 net check {} --batch {}{}", options.model, options.batch,
                                 app::to_line(options, word));
    result.level = "network";
    result.framework = word;
    if (result.metric.empty()) result.metric = "relative error";
    if (result.unit.empty()) result.unit = "1";
  }
  return results;
}

int run(const Options& options) {
  app::apply(options);
  std::vector<Measurement> results;
  {
    Progress progress("frameworks", std::int64_t(options.frameworks.size()),
                      {.unit = "frameworks"});
    for (const auto& word : options.frameworks) {
      progress.note(word);
      for (auto& result : check(options, word)) results.push_back(std::move(result));
      progress.advance();
    }
  }
  return app::publish(std::move(results), options);
}

}  // namespace

void register_net_check(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("net check", "is a network right", kExamples,
                              [options] { return run(*options); });
  app::add_model_argument(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
