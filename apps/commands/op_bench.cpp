// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "apps/comparison_records.hpp"
#include "apps/operator_cases.hpp"
#include "apps/operator_subject.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/error.hpp"
#include "d5/core/progress.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_validation.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 op bench "Gemm 64x64 64x64"                time, interval, FLOP/s
  d5 op bench "Conv 16x3x32x32 8x3x3x3" --framework reference,torch
                                                side by side, interleaved, with the ratio
  d5 op bench cases.txt --pass forward --out results.json
  d5 op bench "Relu 1x64" --metrics peak_memory --samples 100 --cold-cache)";

struct Options : app::OutputOptions, app::RunOptions {
  std::vector<std::string> words;
  std::string pass = "both";
  MeasureOptions measuring;
};

/// All frameworks on one case, interleaved.
class Bench {
 public:
  Bench(const OperatorCase& one, const Options& options, std::vector<Measurement>& results)
      : case_(one), options_(options), results_(results) {}

  void forward() {
    run("forward", Mode::inference,
        [](app::OperatorSubject& subject) { return subject.forward(); });
    check();
  }
  void backward() {
    run("backward", Mode::training,
        [](app::OperatorSubject& subject) { return subject.backward(); });
  }

 private:
  Measurement record(const app::OperatorSubject& subject, const std::string& pass) const {
    Measurement common = subject.record();
    common.command = fmt::format("d5 op bench '{}' --pass {}{}", case_.line, pass,
                                 app::to_line(options_, subject.framework()));
    common.conditions["pass"] = pass;
    return common;
  }

  void refuse(const std::string& framework, const std::string& pass, const Error& error) {
    Measurement refused;
    refused.subject = case_.line;
    refused.level = "operator";
    refused.framework = framework;
    refused.metric = "time";
    refused.unit = "s";
    refused.conditions["pass"] = pass;
    refused.status =
        dynamic_cast<const Unsupported*>(&error) ? Status::unsupported : Status::failed;
    refused.reason = error.what();
    results_.push_back(std::move(refused));
  }

  template <class Prepare>
  void run(const std::string& pass, Mode mode, const Prepare& prepare) {
    std::vector<Subject> subjects;
    subjects_.clear();
    for (const auto& name : options_.frameworks) {
      try {
        app::OperatorSubject subject(case_, name, mode);
        subjects.push_back(prepare(subject));
        subjects_.push_back(std::move(subject));
      } catch (const NotFound&) {
        throw;  // a misspelt framework is bad usage
      } catch (const Error& error) {
        refuse(name, pass, error);
      }
    }
    auto times = measure_interleaved(subjects, options_.measuring, options_.seed);
    for (std::size_t i = 0; i < times.size(); ++i) {
      app::describe(times[i], record(subjects_[i], pass));
      results_.push_back(times[i]);
      const double flop = mode == Mode::inference ? subjects_[i].runner().cost().flop : 0;
      if (flop > 0 && !times[i].samples.empty()) {
        results_.push_back(app::rate_record(times[i], "flop rate", "flop", flop));
      }
      if (i > 0) results_.push_back(app::ratio_record(times[i], times[0]));
      if (options_.metrics.empty()) continue;
      std::vector<std::shared_ptr<Metric>> extra;
      for (const auto& name : options_.metrics) extra.push_back(metrics().at(name).make());
      for (auto& result : measure(subjects[i], extra, options_.measuring)) {
        app::describe(result, record(subjects_[i], pass));
        results_.push_back(std::move(result));
      }
    }
  }

  /// How far each framework's answer is from the reference's.
  void check() {
    for (const auto& subject : subjects_) {
      if (subject.framework() == "reference") continue;
      for (auto& error : test_forward(case_, subject.framework())) {
        error.conditions["pass"] = "forward";
        results_.push_back(std::move(error));
      }
    }
  }

  const OperatorCase& case_;
  const Options& options_;
  std::vector<Measurement>& results_;
  std::vector<app::OperatorSubject> subjects_;
};

int run(const Options& options) {
  app::apply(options);
  const auto cases = app::read_case_words(options.words, options.seed);
  pin_threads();
  std::vector<Measurement> results;
  {
    Progress progress("cases", std::int64_t(cases.size()), {.unit = "cases"});
    for (const auto& one : cases) {
      progress.note(one.line);
      Bench bench(one, options, results);
      if (options.pass != "backward") bench.forward();
      if (options.pass != "forward") bench.backward();
      progress.advance();
    }
  }
  return app::publish(std::move(results), options);
}

}  // namespace

void register_op_bench(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("op bench", "how fast is an operator, in which framework", kExamples,
                              [options] { return run(*options); });
  command.add_option("CASE", options->words, "cases, or files of them")->required();
  command.add_option("--pass", options->pass, "what is timed")
      ->check(CLI::IsMember({"forward", "backward", "both"}))
      ->option_text("forward|backward|both");
  app::add_measure_options(command, options->measuring);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
}

}  // namespace d5::command
