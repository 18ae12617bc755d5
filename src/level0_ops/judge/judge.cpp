// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/judge/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/tensor/random.hpp"
#include "level0_ops/judge/call_layout.hpp"
#include "level0_ops/judge/core_lease.hpp"
#include "level0_ops/judge/fresh_case.hpp"
#include "level0_ops/judge/judge_fault.hpp"
#include "level0_ops/judge/judged_case.hpp"
#include "level0_ops/judge/judged_process.hpp"
#include "level0_ops/judge/judged_source.hpp"
#include "level0_ops/judge/object_symbols.hpp"

namespace d5 {
namespace {

using detail::JudgedCase;
using detail::JudgedPass;
using detail::JudgeFault;
using detail::WrongAnswer;

std::uint64_t drawn_seed() {
  std::uint64_t seed = 0;
  while (::getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    if (errno != EINTR) throw IoError("the system draws no random seed; give one");
  }
  return seed;
}

class SourceJudge {
 public:
  SourceJudge(const std::string& source, const std::vector<CaseLine>& cases,
              const JudgeOptions& options)
      : options_(options),
        seed_(options.seed ? *options.seed : drawn_seed()),
        random_(seed_, stream_of("judge")),
        cores_(threads(), options.interrupt),
        source_(detail::prepare_source(
            source, {.seconds = options.compile_seconds, .bytes = std::size_t(options.memory)})) {
    for (const CaseLine& line : cases) {
      add(line, JudgedPass::forward);
      if (options.gradients) add(line, JudgedPass::backward);
    }
  }

  std::vector<Measurement> run() {
    bool interrupted = false;
    try {
      for (const std::int64_t drawn : order()) {
        const std::int64_t index = drawn / kKinds;
        JudgedCase& one = cases_[std::size_t(index)];
        if (one.record.status != Status::passed) continue;
        options_.interrupt.check(one.record.subject);
        attempt(one, int(index), Values(drawn % kKinds));
        if (options_.on_sample) options_.on_sample();
      }
    } catch (const Interrupted&) {
      interrupted = true;
    }
    return records(interrupted ? options_.interrupt.reason() : "");
  }

 private:
  void add(const CaseLine& line, JudgedPass pass) {
    JudgedCase& one = cases_.emplace_back();
    Measurement& record = one.record;
    record.subject = line.line;
    record.level = "operator";
    record.framework = std::filesystem::path(source_.path).filename().string();
    record.metric = "time";
    record.unit = "s";
    record.quantity = Quantity::time;
    record.conditions = line.sweep.values;
    record.conditions["pass"] = identity(pass == JudgedPass::forward ? "forward" : "backward");
    record.conditions["threads"] = setting(threads());
    record.conditions["seed"] = finding(fmt::format("{}", seed_));
    record.command = CommandLine("op judge")
                         .word(source_.path)
                         .option("--for", line.sweep.line.empty() ? line.line : line.sweep.line)
                         .options(options_)
                         .option("--threads", threads())
                         .append(options_.command_options)
                         .text();
    for (const auto& name : options_.against) one.baselines.emplace_back(name, record, pass);
    record.conditions["compiler"] = aside(source_.compiler);
    if (!source_.flags.empty()) record.conditions["flags"] = aside(source_.flags);
    record.artefacts = {{.name = record.framework, .sha256 = source_.sha256}};
    try {
      one.fresh = std::make_unique<detail::FreshCase>(line, pass);
    } catch (...) {
      record_failure(record, std::current_exception());
    }
  }

  using Values = detail::FreshCase::Values;
  static constexpr std::int64_t kKinds = 2;  ///< kinds of values

  /// All calls of all cases, in drawn order: `kKinds` times the case plus the kind of values. Of
  /// four calls of a case, one has large values.
  std::vector<std::int64_t> order() {
    constexpr std::int64_t kOneOf = 4;
    std::vector<std::int64_t> calls;
    for (std::int64_t i = 0; i < std::int64_t(cases_.size()); ++i) {
      for (std::int64_t call = 0; call < options_.samples + options_.warmup; ++call) {
        calls.push_back(i * kKinds +
                        std::int64_t(call % kOneOf == 0 ? Values::large : Values::usual));
      }
    }
    random_.shuffle(calls);
    return calls;
  }

  /// Judges a call. A fault fails the case, and ends the process.
  void attempt(JudgedCase& one, int index, Values values) {
    try {
      if (!process_) start();
      call(one, index, values);
    } catch (const JudgeFault& fault) {
      one.record.conditions["fault"] = finding(fault.name());
      if (dynamic_cast<const WrongAnswer*>(&fault)) {
        one.record.conditions["answers"] = finding("wrong");
      }
      one.record.status = Status::failed;
      one.record.reason = fmt::format("call {}: {}{}", one.calls + 1, fault.what(), refusals());
      one.record.samples.clear();
      process_.reset();
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      record_failure(one.record, std::current_exception());
    }
  }

  /// "; refused: '/tmp/answers'", so that a wrong answer is explained.
  [[nodiscard]] std::string refusals() const {
    if (!process_ || process_->calls().refused().empty()) return "";
    return fmt::format("; refused: {}", fmt::join(process_->calls().refused(), ", "));
  }

  /// Starts the process, with memory for the largest case.
  void start() {
    if (!options_.forbid.empty() && !source_.path.ends_with(".py")) {
      const detail::ObjectSymbols symbols = detail::symbols_of(source_.file);
      detail::expect_none_of(options_.forbid, symbols);
      is_stripped_ = symbols.stripped;
    }
    std::size_t inputs = 0, outputs = 0;
    for (const auto& one : cases_) {
      if (!one.fresh) continue;
      inputs = std::max(inputs, detail::shared_bytes(one.fresh->read()));
      outputs = std::max(outputs, detail::shared_bytes(one.fresh->written()));
    }
    process_ = std::make_unique<detail::JudgedProcess>(
        source_, inputs, outputs,
        detail::JudgedLimits{.threads = threads(),
                             .processors = cores_.own(),
                             .seconds = options_.call_seconds,
                             .bytes = std::size_t(options_.memory),
                             .forbidden = options_.forbid});
  }

  void call(JudgedCase& one, int index, Values values) {
    const detail::FreshCall fresh = one.fresh->draw(random_, values);
    detail::write_node(process_->orders(), fresh.drawn.node, index);
    detail::CallLayout layout(*process_, detail::descriptions(fresh.read), fresh.written, random_);
    process_->orders().number = ++number_;
    (void)process_->follow(judged::Order::prepare);
    layout.put(fresh.read);
    layout.poison();
    const double seconds =
        process_->follow(one.fresh->pass() == JudgedPass::forward ? judged::Order::forward
                                                                  : judged::Order::backward);
    const judged::Answers answers = process_->answers();
    if (answers.returned != number_) {
      throw JudgeFault("stopped without returning", "it stopped its process in the call");
    }
    if (answers.status != 0) {
      throw JudgeFault("failed", fmt::format("status {}: {}", answers.status,
                                             printable_message(answers.message)));
    }
    layout.expect_unchanged(fresh.read);
    compare(layout, layout.take(), fresh);
    one.record.conditions["judge"] = finding(fresh.judge);
    note_conditions(one);
    const double own = std::max(seconds - process_->shortest_hand_over(), 0.0);
    const bool is_timed = ++one.calls > options_.warmup;
    if (is_timed) {
      one.record.samples.push_back(own);
      one.seconds += own;
      one.used_seconds += process_->used_seconds();
      one.hand_over_noise = process_->usual_hand_over() - process_->shortest_hand_over();
    }
    for (auto& baseline : one.baselines) baseline.run(fresh, is_timed);
  }

  static void compare(const detail::CallLayout& layout, const std::vector<Value>& got,
                      const detail::FreshCall& fresh) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!got[i].is_tensor()) continue;
      const Difference difference = compare_values(got[i], fresh.expected[i], fresh.tolerances[i]);
      if (difference.equal) continue;
      if (const auto count = layout.unwritten(i, got[i].tensor()); count > 0) {
        throw WrongAnswer("output not written",
                          fmt::format("{} of {} elements of {}", count, got[i].tensor().elements(),
                                      layout.name(i)));
      }
      throw WrongAnswer("wrong answer", fmt::format("{}: {}", layout.name(i), difference.where));
    }
  }

  void note_conditions(JudgedCase& one) const {
    Conditions& conditions = one.record.conditions;
    conditions["confinement"] = setting("system calls, memory, threads, time");
    conditions["cores"] = finding(cores_.words());
    conditions["landlock"] = process_->landlock() > 0
                                 ? finding(fmt::format("version {}", process_->landlock()))
                                 : finding("none: the kernel has no Landlock");
    if (is_stripped_) conditions["hidden symbols"] = finding("unknown: the object is stripped");
    conditions["control group"] = finding(process_->group().words());
    conditions["hand-over"] = finding(process_->shortest_hand_over(), "s");
    const auto& opened = process_->calls().opened();
    if (!opened.empty()) conditions["files"] = aside(fmt::format("{}", fmt::join(opened, ", ")));
    const auto& refused = process_->calls().refused();
    if (!refused.empty()) {
      conditions["refused"] = finding(fmt::format("{}", fmt::join(refused, ", ")));
    }
  }

  std::vector<Measurement> records(const std::string& interruption) {
    std::vector<Measurement> all;
    const MachinePeak peak = machine_peak();
    for (JudgedCase& one : cases_) {
      std::ranges::move(one.records(options_.samples, interruption, peak), std::back_inserter(all));
    }
    return all;
  }

  JudgeOptions options_;
  std::uint64_t seed_;
  RandomStream random_;
  detail::CoreLease cores_;
  detail::JudgedSource source_;
  std::vector<JudgedCase> cases_;
  std::unique_ptr<detail::JudgedProcess> process_;
  std::uint64_t number_ = 0;  ///< number of the last call
  bool is_stripped_ = false;  ///< and libraries are forbidden
};

}  // namespace

void JudgeOptions::declare(OptionList& list) {
  list.add("samples", samples, "timed calls of each case", {.least = 1});
  list.add("warmup", warmup, "calls of each case before them, judged like them", {.least = 0});
  list.add("gradients", gradients, "judge the gradients, too");
  list.add("call_seconds", call_seconds, "time limit for a call", {.above = 0, .unit = "s"});
  list.add("compile_seconds", compile_seconds, "time limit for compiling",
           {.above = 0, .unit = "s"});
  list.add("memory", memory, "memory limit of the process, beside the tensors, and of the compiler",
           {.least = 1, .unit = "byte"});
  list.add("against", against, "frameworks to time on the same inputs, between the source's calls",
           {.placeholder = "NAME"});
  list.add("forbid", forbid, "parts of names of libraries that the source may not load or link",
           {.placeholder = "NAME"});
}

std::vector<Measurement> judge_source(const std::string& source, const std::vector<CaseLine>& cases,
                                      const JudgeOptions& options) {
  if (cases.empty()) throw ValueError("a source is judged on cases, and there are none");
  (void)options_of(options);  // throws if out of range
  return SourceJudge(source, cases, options).run();
}

}  // namespace d5
