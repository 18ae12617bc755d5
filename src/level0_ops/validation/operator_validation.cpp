// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/operator_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/error_norms.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/validation/draw_judge.hpp"
#include "level0_ops/validation/expected_outputs.hpp"
#include "level0_ops/validation/output_evidence.hpp"
#include "level0_ops/validation/own_operator.hpp"
#include "level0_ops/validation/picture_of_record.hpp"
#include "level0_ops/validation/validation_record.hpp"
#include "level0_ops/validation/written_outputs.hpp"

namespace d5 {
namespace {

/// Both outputs on the host, for elementwise comparison; nothing if they are not comparable.
std::optional<std::pair<Tensor, Tensor>> comparable(const Value& got, const Value& expected) {
  if (!got.is_tensor() || !expected.is_tensor()) return std::nullopt;
  const Tensor& wanted = expected.tensor();
  Tensor host = got.tensor().on_host();
  if (!is_floating_point(host.dtype()) || host.desc() != wanted.desc()) return std::nullopt;
  return std::pair{std::move(host), wanted};
}

/// Appends the norms of an output after its record.
void add_norms(std::vector<Measurement>& results, const Tensor& got, const Tensor& expected) {
  Measurement like = results.back();
  like.conditions.erase("absolute error");
  if (like.status == Status::failed) {  // norms only inform; the record before them judges
    like.status = Status::passed;
    like.reason.clear();
  }
  like.artefacts.clear();
  for (auto& record : norm_records(error_norms(got, expected), like)) {
    results.push_back(std::move(record));
  }
}

/// Judges random numbers by their distribution, because another generator draws other numbers.
Measurement check_draws(const Measurement& base, const OperatorCase& op_case,
                        const OperatorRunner& got) {
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < got.output_count(); ++i) {
    const Value& output = got.output(i);
    outputs.push_back(output.is_tensor() ? Value(output.tensor().on_host()) : output);
  }
  detail::DrawJudge judge(op_case.node);
  judge.add(op_case.inputs, outputs);
  Measurement record = judge.record(base);
  record.conditions["tensor"] = identity("output 0");
  record.conditions["reference"] = setting("its distribution");
  return record;
}

std::vector<Measurement> compare_outputs(Measurement result, const OperatorCase& op_case,
                                         const std::string& subject,
                                         const ForwardOptions& options) {
  const auto& [reference, exact, tolerance, device, interrupt, errors, heatmaps, isolation] =
      options;
  const bool judged_by_case = !op_case.expected.empty();
  const bool draws = !judged_by_case && draws_random_numbers(op_case.node);
  std::vector<Measurement> results;
  try {
    Framework& tested = framework(subject);
    result.framework_version = tested.version();
    std::vector<std::string> needed = {subject};
    if (!judged_by_case && !draws) needed.push_back(reference);
    for (const auto& name : needed) {
      const Support support = framework(name).part<OperatorRegistry>().knows(op_case.node);
      if (support) continue;
      result.status = Status::unsupported;
      result.reason = fmt::format("{}: {}", name, support.reason);
      return {result};
    }
    OperatorRunner got(tested.part<OperatorRegistry>(), op_case.node, op_case.inputs,
                       Mode::inference, device == Device{} ? Guard::on : Guard::off, device);
    interrupt.check(op_case.line);
    got.forward();
    got.synchronise();
    interrupt.check(op_case.line);
    if (draws) return {check_draws(result, op_case, got)};
    const auto expected = detail::expected_outputs(op_case, reference, exact, interrupt);
    std::vector<std::string> faults;
    if (device == Device{} && detail::is_own(op_case.node)) {
      faults = detail::output_faults(tested.part<OperatorRegistry>(), op_case);
    }
    for (const std::size_t i : detail::comparable_outputs(op_case, got, expected)) {
      const Value wanted = expected.value(i, got.output(i));
      const Difference difference =
          compare_values(got.output(i), wanted, tolerance.value_or(expected.tolerance(wanted)));
      Measurement& one = results.emplace_back(result);
      one.samples = {difference.largest_relative};
      one.conditions["tensor"] = identity(fmt::format("output {}", i));
      one.conditions["absolute error"] = aside(difference.largest_absolute);
      if (!difference.equal) {
        one.status = Status::failed;
        one.reason = difference.where;
      }
      detail::weigh_output(one, "", op_case, reference, i, wanted);
      if (i < faults.size() && !faults[i].empty()) {
        one.status = Status::failed;
        one.reason = faults[i];
      }
      const auto both = comparable(got.output(i), wanted);
      if (!both) continue;  // explained by the reason
      const auto& [here, there] = *both;
      if (!heatmaps.empty() && difference.largest_absolute != 0) {
        detail::add_heatmap(one, absolute_difference(here, there), heatmaps, "difference");
      }
      if (errors == ErrorDetail::norms) add_norms(results, here, there);
    }
  } catch (const IoError&) {  // a picture's error is not a finding
    throw;
  } catch (...) {
    record_failure(result, std::current_exception());
    return {result};
  }
  return results;
}

}  // namespace

std::vector<Measurement> test_forward(const OperatorCase& op_case, const std::string& subject,
                                      const ForwardOptions& options) {
  CommandLine own = CommandLine().flag("--no-gradient");
  if (options.exact) own.flag("--exact");
  if (options.tolerance) {
    own.option("--rtol", options.tolerance->relative).option("--atol", options.tolerance->absolute);
  }
  if (options.errors == ErrorDetail::norms) own.flag("--norms");
  if (!options.heatmaps.empty()) own.option("--heatmap", options.heatmaps);
  Measurement record = detail::validation_record(op_case, subject, "forward", options.device, own);
  record.conditions["reference"] = setting(!op_case.expected.empty() ? "the case"
                                           : options.exact ? options.reference + " in float64"
                                                           : options.reference);
  return isolated(options.isolation, record,
                  [&] { return compare_outputs(record, op_case, subject, options); });
}

}  // namespace d5
