// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/declared_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level0_ops/judge/judge.hpp"

namespace d5::command {
namespace {

constexpr const char* kOpJudgeExamples =
    R"(  d5 op judge matmul.cpp --for "MatMul 64x64 64x64"
                                                right, and how fast, in a confined process
  d5 op judge matmul.cpp --for "MatMul {n}x{n} {n}x{n} for n=63,64,65"
                                                uncommon sizes, too
  d5 op judge softmax.c --for cases.txt --against reference,torch
                                                side by side with frameworks, with the ratio
  d5 op judge matmul.cpp --for cases.txt --forbid blas,torch
                                                libraries that the source may not load

The source defines operators against d5/abi.h; the one with the name of the case's operator
is judged, in any domain. In Python it is the function of that name. Each call has fresh inputs, and each answer is compared with the
reference in float64. docs/reference/judging.md has the faults, and what is not promised.)";

struct OpJudgeOptions : app::OutputOptions, app::RunOptions {
  std::string source;
  std::vector<std::string> words;
  JudgeOptions how;
};

int run_op_judge(const OpJudgeOptions& options) {
  app::apply(options);
  app::check_output(options);
  JudgeOptions how = options.how;
  if (options.seed_given) {
    how.seed = options.seed;
    how.command_options = CommandLine().option("--seed", options.seed).text();
  }
  how.interrupt = app::ctrl_c();
  return app::publish(judge_source(options.source, read_case_words(options.words), how), options);
}

}  // namespace

void register_op_judge(app::Program& program) {
  auto options = std::make_shared<OpJudgeOptions>();
  auto& command = program.add("op judge", "judge an operator's source that is not trusted",
                              kOpJudgeExamples, [options] { return run_op_judge(*options); });
  command.add_option("SOURCE", options->source, "source of the operator, in C, C++ or Python")
      ->required();
  command.add_option("--for", options->words, "operator cases, or files of them")
      ->required()
      ->option_text("CASE...");
  app::add_declared_options(command, options->how, "Judging");
  app::add_process_options(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
