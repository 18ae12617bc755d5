// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/evaluation/evaluation_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalLockExamples =
    R"(  d5 eval lock efficientnet-lite0 --framework torch,reference > e.lock.json
                                                every digest of what 'd5 eval run' would use
  d5 eval lock evaluation.yaml --out e.lock.json
  d5 eval run --locked e.lock.json              run it, if nothing changed since)";

struct EvalLockOptions : app::EvaluationOptions, app::RunOptions {
  std::string out;
};

int run_eval_lock(EvalLockOptions options) {
  app::apply_predictors(options);
  const std::string lock = evaluation_lock(app::fixed_evaluation_of(options, options));
  if (options.out.empty()) {
    fmt::print("{}", lock);
  } else {
    write_file(options.out, lock);
  }
  return app::kPassed;
}

}  // namespace

void register_eval_lock(app::Program& program) {
  auto options = std::make_shared<EvalLockOptions>();
  auto& command = program.add("eval lock", "write a lock file with every digest of an evaluation",
                              kEvalLockExamples, [options] { return run_eval_lock(*options); });
  app::add_evaluation_options(command, *options);
  command.add_option("--out", options->out, "file to write; by default stdout")
      ->option_text("FILE");
  app::add_run_options(command, *options);
}

}  // namespace d5::command
