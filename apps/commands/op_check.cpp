// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/reduction.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level0_ops/validation/operator_check.hpp"
#include "d5/level0_ops/validation/operator_reduction.hpp"

namespace d5::command {
namespace {

constexpr const char* kOpCheckExamples =
    R"(  d5 op check "Relu 2x3"                        forward and gradient of one case
  d5 op check Conv 2x3x8x8 4x3x3x3 pads=1x1x1x1 the quotes may be left out
  d5 op check cases.txt --framework torch       a file with one case a line
  d5 op check cases.txt --framework all         every framework that can be loaded, each a row
  d5 op check "Tanh float64:5" --no-gradient    forward alone
  d5 op check "Softmax 8x64" --framework torch --norms --repeat 10
                                                size and place of the error, also in ULPs; and whether
                                                ten runs give the same bits
  d5 op check cases.txt --framework torch --heatmap pictures
                                                draw each output that differs
  d5 op check cases.txt --list                  list what would run; --dry-run plans it
  d5 op check "Add {1,2} {3,4} -> {4,6}"        compare with the given outputs
  d5 op check "Gemm 64x512~4 512x64~4" --framework torch --rtol 0 --atol 0
                                                whole numbers from -4 to 4: right to the last bit
  d5 op check --load mine.cpp "mine.Op 2x3" --isolate 10
                                                a crash, or a run above 10 s, is a failed row
  d5 op check "Conv 16x12x32x32 8x12x3x3" --framework torch --reduce
                                                the smallest case that fails alike, as a command

A case is an operator, its inputs as TYPE:SHAPE, and its attributes; docs/reference/program.md has the grammar.)";

struct OpCheckOptions : app::OutputOptions,
                        app::RunOptions,
                        app::ListOptions,
                        app::ToleranceOptions {
  std::vector<std::string> words;
  bool no_gradient = false, norms = false, exact = false;
  int repeats = 0;       ///< 0: do not check repeatability
  std::string heatmaps;  ///< folder; empty: no pictures
  bool reduce = false;
  app::ReductionOptions reduction = {};
};

/// Prints the commands that run the smallest cases.
void say_commands(const std::vector<Measurement>& records) {
  for (const auto& record : records) {
    if (record.conditions.contains("case")) app::say("the smallest case: " + record.command);
  }
}

int run_op_check(OpCheckOptions options) {
  app::expect_frameworks_of_operators(options);
  const Isolation isolation = options.reduce
                                  ? app::isolation_of_reduction(options.reduction, options)
                                  : app::isolation_of(options.reduction.isolation, options);
  app::apply(options, operator_words);
  const auto cases = read_case_words(options.words, options.seed);
  const OperatorCheckOptions how{
      .frameworks = options.frameworks,
      .gradient = !options.no_gradient,
      .repeats = options.repeats,
      .forward = {.exact = options.exact,
                  .tolerance = app::tolerance_of(options),
                  .device = device_from_name(options.device),
                  .interrupt = isolation.interrupt,
                  .errors = options.norms ? ErrorDetail::norms : ErrorDetail::largest,
                  .heatmaps = options.heatmaps,
                  .isolation = isolation},
      .seed = options.seed,
      .reduce = options.reduce,
      .reduce_seconds = options.reduction.most_seconds,
      .on_reduction =
          [sayer = app::ReductionSayer(options)](const CaseReductionProgress& now) mutable {
            sayer.say(fmt::format("'{}'", printable(now.line)), now.tries, now.seconds);
          },
      .command_options = app::to_line(static_cast<const app::RunOptions&>(options)) +
                         app::to_line(options.reduction.isolation)};
  std::vector<WorkPiece> work;
  for (const auto& one : cases) {
    WorkPiece& piece = work.emplace_back();
    piece.record = error_record();
    piece.record.subject = one.line;
    piece.record.level = "operator";
    piece.samples = std::int64_t(options.frameworks.size());
    piece.run = [&](const std::function<void()>& sampled) {
      OperatorCheckOptions with_progress = how;
      with_progress.on_framework = sampled;
      const auto records = check_operator(one, with_progress);
      if (how.reduce) say_commands(records);
      return records;
    };
    piece.plan = [&] {
      using Passes = BenchOptions::Passes;
      return plan_bench(one.draw(), {.frameworks = options.frameworks,
                                     .device = how.forward.device,
                                     .passes = how.gradient ? Passes::both : Passes::forward});
    };
  }
  return app::run_list(work, options, options);
}

}  // namespace

void register_op_check(app::Program& program) {
  auto options = std::make_shared<OpCheckOptions>();
  auto& command = program.add("op check", "validate an operator, forward and backward",
                              kOpCheckExamples, [options] { return run_op_check(*options); });
  command.add_option("CASE", options->words, "operator cases, or files of them")->required();
  app::add_list_options(command, *options);
  command.add_flag("--no-gradient", options->no_gradient, "skip the check of gradients");
  command.add_flag("--exact", options->exact,
                   "compare forward with the reference in float64, even the reference itself");
  app::add_tolerance_options(command, *options,
                             "the rounding bound of an operator's sums of products");
  command.add_flag("--norms", options->norms, app::kNormsHelp);
  command
      .add_option("--repeat", options->repeats,
                  "further runs of forward and backward, to see whether all results have the same "
                  "bits, and how they vary")
      ->transform(app::whole_number(2))
      ->option_text("N");
  command
      .add_option(
          "--heatmap", options->heatmaps,
          "folder for heatmaps of where outputs differ, and of where --repeat's results vary")
      ->option_text("FOLDER");
  command.add_flag("--reduce", options->reduce,
                   "find the smallest case that fails alike, with fewer attributes, inputs and "
                   "smaller sizes; each try runs in a process of its own");
  app::add_reduction_options(command, options->reduction);
  app::add_run_options(command, *options);
  app::add_isolate_option(command, options->reduction.isolation);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
