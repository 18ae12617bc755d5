// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/level2_training/data/own_steps.hpp"
#include "level2_training/data/python/python_worker.hpp"

namespace d5::answer_step {
namespace {

using detail::PythonFunction;

struct PythonAnswerOptions {
  std::string function;
  double seconds = 60;
  void declare(OptionList& options) {
    options.add(
        "function", function,
        "FILE.py::NAME, which takes a dict of numpy arrays by name and returns one of those "
        "that it adds or replaces",
        detail::function_text());
    options.add("seconds", seconds, "time limit for a call", {.above = 0, .most = 3600});
  }
};

/// A user's Python function.
class PythonAnswer final : public AnswerStep {
 public:
  using Options = PythonAnswerOptions;
  explicit PythonAnswer(const Options& options)
      : workers_(std::make_shared<detail::PythonWorkers>(
            PythonFunction::of(options.function, PythonFunction::Form::values, options.seconds))) {
    if (const auto refusal = own_step_refusal("python"); !refusal.empty()) {
      throw ValueError(refusal);
    }
  }
  void run(ValueMap& values) const override {
    for (auto& [name, value] : workers_->call(values)) values[name] = value;
  }

 private:
  std::shared_ptr<detail::PythonWorkers> workers_;
};

}  // namespace

void register_python(Registry<AnswerStepEntry>& registry) {
  registry.add("python", AnswerStepEntry::of<PythonAnswer>(
                             "a Python function of yours, in a separate process, where code is "
                             "allowed"));
}

}  // namespace d5::answer_step
