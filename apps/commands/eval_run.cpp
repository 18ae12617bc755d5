// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/evaluation_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/work_list.hpp"
#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/evaluation/evaluate.hpp"
#include "d5/evaluation/evaluation_lock.hpp"
#include "d5/level1_network/executor_word.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalRunExamples =
    R"(  d5 eval run efficientnet-lite0 --framework torch,reference --scenario single_stream
                                                is it as accurate as claimed, and how fast
  d5 eval run mine.yaml --dataset imagenet-sample --framework all --batch 1,8
                                                a model of your own ('d5 eval lint mine.yaml')
  d5 eval run evaluation.yaml --out results.json --resume
                                                all that an evaluation's manifest names
  d5 eval run --locked e.lock.json              once more, if nothing is another since 'd5 eval lock'

A model is answered on all samples first: an accuracy below what its author claims fails, and what
is timed then is mistrusted.)";

struct EvalRunOptions : app::EvaluationOptions,
                        app::OutputOptions,
                        app::RunOptions,
                        app::ListOptions {
  std::string locked;
  bool steps = false;
};

FixedEvaluation fixed(const EvalRunOptions& options) {
  if (options.locked.empty()) return fix_evaluation(app::evaluation_of(options, options));
  if (!options.what.empty()) {
    throw ValueError("--locked FILE says what is run; name nothing else");
  }
  return locked_evaluation(options.locked);
}

int run_eval_run(EvalRunOptions options) {
  app::apply(options, executor_words);
  pin_threads();
  const FixedEvaluation evaluation = fixed(options);
  const EvaluateOptions how{
      .steps = options.steps, .command_options = app::to_line(options), .interrupt = app::ctrl_c()};
  return app::run_list(evaluation_work(evaluation, how), options, options);
}

}  // namespace

void register_eval_run(app::Program& program) {
  auto options = std::make_shared<EvalRunOptions>();
  auto& command = program.add("eval run", "a model as it is used: how accurate, how fast",
                              kEvalRunExamples, [options] { return run_eval_run(*options); });
  app::add_evaluation_options(command, *options);
  command
      .add_option("--locked", options->locked,
                  "what this file of 'd5 eval lock' holds, if nothing is another since")
      ->option_text("FILE");
  command.add_flag("--steps", options->steps,
                   "each step's time, its queue, and who waited for whom");
  app::add_list_options(command, *options);
  app::add_pivot_option(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command
