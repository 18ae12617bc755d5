// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/difference_look.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/files/scratch_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/validation/bounds_off.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

constexpr std::string_view kGradient = "gradient of ", kOutput = "output ";

/// A flag in shared memory, written by a forked process and read by its parent.
std::shared_ptr<std::atomic<bool>> shared_word() {
  using Word = std::atomic<bool>;
  static_assert(Word::is_always_lock_free);
  void* page =
      mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw IoError("no memory that two processes share");
  return {new (page) Word(false), [](Word* word) { munmap(word, sizeof(Word)); }};
}

ValueMap owned(const ValueMap& values) {
  ValueMap copies;
  for (const auto& [name, value] : values) {
    copies[name] = value.is_tensor() ? Value(value.tensor().copy({})) : value;
  }
  return copies;
}

void save_tensors(const ValueMap& values, const std::string& file) {
  onnx::Model model;
  model.ir_version = onnx::kNewestIrVersion;
  model.opset_imports[""] = onnx::kNewestOpset;
  model.graph.name = "values";
  for (const auto& [name, value] : values) {
    if (value.is_tensor()) model.graph.initializers[name] = value.tensor();
  }
  onnx::save(model, file, {.external_data = true});
}

ValueMap load_tensors(const std::string& file) {
  ValueMap values;
  for (auto& [name, tensor] : onnx::load(file, {.infer_shapes = false}).graph.initializers) {
    values[name] = Value(tensor.copy());
  }
  return values;
}

/// Whether quantized numbers differ by at most one step, which rounding can cause. If the whole
/// network is far off, such a step is not the cause.
bool is_one_step(const Measurement& record, const std::vector<Answer>& answers) {
  const Value* answer = find(answers, record.conditions.at("tensor").text());
  if (!answer || !answer->is_tensor()) return false;
  const DType dtype = answer->tensor().dtype();
  const bool is_quantized = dtype == DType::int8 || dtype == DType::uint8 ||
                            dtype == DType::int16 || dtype == DType::uint16;
  return is_quantized && condition_number(record, "absolute error") == 1;
}

/// The worst difference among records; outputs come before gradients, which may follow from them.
NetworkDifference worst_difference(const std::vector<Measurement>& records,
                                   const std::vector<Answer>& answers) {
  NetworkDifference worst;
  for (const auto& record : records) {
    if (record.status != Status::failed) continue;
    const bool is_gradient = record.conditions.at("tensor").text().starts_with(kGradient);
    const auto kind = is_gradient ? DifferenceKind::gradient : DifferenceKind::answer;
    if (kind == DifferenceKind::gradient && worst.kind == DifferenceKind::answer) continue;
    const double off = is_one_step(record, answers)
                           ? kDoubtfulBounds
                           : std::min(bounds_off(record), std::numeric_limits<double>::max());
    if (kind == worst.kind && off <= worst.size) continue;
    worst = {kind, off, record.reason};
  }
  return worst;
}

/// Stores answers "output y" and "gradient of w" under the names y and w.
void put(const ValueMap& answers, ValueMap& outputs, ValueMap& gradients) {
  for (const auto& [tensor, value] : answers) {
    if (tensor.starts_with(kGradient)) gradients[tensor.substr(kGradient.size())] = value;
    if (tensor.starts_with(kOutput)) outputs[tensor.substr(kOutput.size())] = value;
  }
}

}  // namespace

DifferenceLook::DifferenceLook(const MakeExecutor& subject, const MakeExecutor& reference,
                               const ReductionOptions& options)
    : subject_(subject),
      reference_(reference),
      options_(options),
      isolation_(options.isolation),
      subject_runs_(shared_word()) {
  isolation_.interrupt = options.interrupt;
}

void DifferenceLook::limit(double seconds) {
  isolation_.most_seconds = std::min(isolation_.most_seconds, seconds);
}

NetworkDifference DifferenceLook::look(const Network& network, const ValueMap& fed) const {
  if (isolation_.most_seconds <= 0) return look_here(network, fed);
  Measurement record = error_record("", "");
  record.status = Status::skipped;  // all that comes from there is; what ended it is failed
  const auto records = isolated(isolation_, record, [&] {
    try {
      const NetworkDifference found = look_here(network, fed);
      record.metric = fmt::format("{}", int(found.kind));
      record.samples = {found.size};
      record.reason = found.words;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      record.metric = "reference";
      record.reason = error.what();
    }
    if (record.reason.empty()) record.reason = "none";
    return std::vector{record};
  });
  options_.interrupt.check("reduce");  // a Ctrl-C meets both processes
  const Measurement& told = records.front();
  if (told.status == Status::failed) {
    if (*subject_runs_) return {DifferenceKind::ended, 0, told.reason};
    throw Unsupported("the reference: " + told.reason);
  }
  if (told.metric == "reference") throw Unsupported("the reference: " + told.reason);
  const auto kind = DifferenceKind(std::stoi(told.metric));
  if (kind == DifferenceKind::none) return {};
  return {kind, told.samples.front(), told.reason};
}

NetworkDifference DifferenceLook::look_here(const Network& network, const ValueMap& fed) const {
  *subject_runs_ = false;
  if (options_.slower > 0) return look_at_time(network, fed);
  const auto reference = reference_(network.copy());
  const InterruptibleRuns within(*reference, options_.interrupt);
  const BackwardBegin begin = begin_of(*reference, fed);
  RoundingJudge judge(*reference, fed, begin, options_.interrupt);
  std::vector<Answer> answers;
  try {
    *subject_runs_ = true;
    const auto subject = subject_(network.copy());
    const InterruptibleRuns also_within(*subject, options_.interrupt);
    answers = answers_of(*subject, fed, begin);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    return {DifferenceKind::thrown, 0, error.what()};
  }
  return worst_difference(judge.judge(error_record("", ""), answers), answers);
}

NetworkDifference DifferenceLook::look_at_time(const Network& network, const ValueMap& fed) const {
  const auto reference = reference_(network.copy());
  *subject_runs_ = true;
  const auto subject = subject_(network.copy());
  const auto timed = [&](GraphExecutor& executor) {
    // The measured time is that of a run and of its wait for the device.
    return Subject{.record = error_record("", ""),
                   .run = [&] { (void)executor.inference(fed); },
                   .synchronise = [&] { executor.synchronise(); }};
  };
  NetworkDifference found;
  // Twice: some of many tries at 95% would be wrong once, but hardly twice in a row.
  for (int i = 0; i < 2; ++i) {
    const auto records = measure_side_by_side(
        {timed(*reference), timed(*subject)}, {"time"},
        {.samples = 20, .most_seconds = 10, .unjudged = true, .interrupt = options_.interrupt});
    options_.interrupt.check("reduce");
    const auto ratio = std::ranges::find(records, "time_ratio", &Measurement::metric);
    if (ratio == records.end()) throw Unsupported(records.back().reason);
    const Estimate times = estimate(ratio->samples, ratio->statistic);
    if (!(times.interval.low > options_.slower)) return {};
    found = {DifferenceKind::slower, times.value,
             fmt::format("it takes {:.3g} times as long [{:.3g}, {:.3g}], more than {:g}",
                         times.value, times.interval.low, times.interval.high, options_.slower)};
  }
  return found;
}

BackwardBegin DifferenceLook::begin_of(GraphExecutor& reference, const ValueMap& fed) const {
  if (options_.passes == ReductionOptions::Passes::forward) return {};
  const std::string loss = loss_of(reference.network());
  if (!loss.empty()) return {.loss = loss};
  return {.output_gradients = random_gradients(reference, fed)};
}

ValueMap DifferenceLook::all_values(const Network& network, const ValueMap& inputs) const {
  std::set<std::string> names;
  for (const auto& node : network.graph().nodes) {
    names.insert(node.outputs.begin(), node.outputs.end());
  }
  names.erase("");
  const auto run = [&](GraphExecutor& executor) {
    const InterruptibleRuns within(executor, options_.interrupt);
    return owned(executor.inference(inputs));
  };
  const Network with_all = beginning_of(network, network.graph().nodes.size(), names);
  const auto opened = reference_(with_all.copy());
  // d5's own threads are started in each process.
  const bool may_run_here = frameworks_of(*opened) == std::vector<std::string>{"reference"};
  ValueMap values =
      may_run_here ? run(*opened)
                   : brought_back(isolation_, [&] { return run(*reference_(with_all.copy())); });
  values.insert(inputs.begin(), inputs.end());
  return values;
}

void DifferenceLook::tell_answers(ReducedNetwork& reduced) const {
  if (options_.slower > 0) return;
  const ValueMap& fed = reduced.inputs;
  Isolation to_the_end = isolation_;  // also after a Ctrl-C: what is left is small
  to_the_end.interrupt = {};
  const auto expected = [&] {
    const auto reference = reference_(reduced.network.copy());
    const RoundingJudge judge(*reference, fed, begin_of(*reference, fed));
    ValueMap values;
    for (const auto& one : judge.found().expected) values[one.tensor] = one.own;
    return values;
  };
  const auto answered = [&] {
    const auto reference = reference_(reduced.network.copy());
    const auto subject = subject_(reduced.network.copy());
    ValueMap values;
    for (const auto& one : answers_of(*subject, fed, begin_of(*reference, fed))) {
      values[one.tensor] = one.value;
    }
    return values;
  };
  try {
    put(brought_back(to_the_end, expected), reduced.expected, reduced.expected_gradients);
    const auto kind = reduced.difference.kind;
    if (kind == DifferenceKind::answer || kind == DifferenceKind::gradient) {
      put(brought_back(to_the_end, answered), reduced.answers, reduced.gradients);
    }
  } catch (const std::exception&) {  // the network and its inputs are evidence enough
  }
}

ValueMap DifferenceLook::brought_back(const Isolation& isolation,
                                      const std::function<ValueMap()>& make) {
  if (isolation.most_seconds <= 0) return make();
  const detail::ScratchFolder folder("values");
  const std::string file = folder / "values.onnx";
  Measurement record = error_record("", "");
  const auto records = isolated(isolation, record, [&] {
    save_tensors(make(), file);
    record.status = Status::passed;
    return std::vector{record};
  });
  if (records.front().status != Status::passed) throw Unsupported(records.front().reason);
  return load_tensors(file);
}

}  // namespace d5
