// SPDX-License-Identifier: Apache-2.0
// Cases for each framework's operators: the lines of framework_operators.txt, which are the
// same for all, those of its own tests/operators.txt, and the lines on which the reference's
// gradients are checked. What a framework does not do is in its folder:
//
//     tests/operator_exceptions.txt    without OPERATOR    it has no such operator
//                                      refused LINE        it has the operator, but not so
//                                      forward LINE        its gradient is refused while planning
//                                      partly LINE         so are gradients of some outputs, later
//                                      varies LINE         some processors alone can
//     tests/gradient_exceptions.txt    refused LINE, or one whose gradient is
//                                      other LINE          another than the slope
//                                      varies LINE         right on some processors alone
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "tests/level0_ops/case_tables.hpp"
#include "tests/level0_ops/run_case.hpp"

namespace d5::testing {

/// Lines of a table of exceptions; those that nobody asked for fail.
class Exceptions {
 public:
  explicit Exceptions(const std::filesystem::path& file) : file_(file) {
    if (!std::filesystem::exists(file)) return;
    for (const auto& line : table_lines(file)) unused_.insert(line.text);
    all_ = unused_;
  }
  bool has(const std::string& line) {
    unused_.erase(line);
    return all_.contains(line);
  }
  void check_used() const {
    for (const auto& line : unused_)
      FAIL_CHECK(file_.string() << ": no table has '" << line << "'");
  }

 private:
  std::filesystem::path file_;
  std::set<std::string> all_, unused_;
};

/// The operators of one framework; `folder` holds its tests.
class FrameworkSuite {
 public:
  /// `agrees`, unless each record has to have compared something.
  using Right = bool (*)(const Measurement&);
  /// Inputs are drawn with `seed`, those of gradients with the next.
  FrameworkSuite(std::string framework, std::filesystem::path folder, Right right = agrees,
                 std::uint64_t seed = 1)
      : name_(std::move(framework)), folder_(std::move(folder)), right_(right), seed_(seed) {}

  [[nodiscard]] const OperatorRegistry& registry() const {
    return d5::framework(name_).part<OperatorRegistry>();
  }

  /// The lines that it computes, with inputs of a seed.
  [[nodiscard]] std::vector<OperatorCase> cases_that_run(std::uint64_t seed) const {
    Exceptions exceptions(folder_ / "operator_exceptions.txt");
    auto drawn = cases(seed);
    std::erase_if(drawn, [&](const OperatorCase& one) {
      return exceptions.has("without " + operator_of(one.line)) ||
             exceptions.has("refused " + one.line);
    });
    return drawn;
  }

  /// Forward against the reference.
  void check_forward() const {
    Exceptions exceptions(folder_ / "operator_exceptions.txt");
    for (const auto& op_case : cases(seed_)) {
      INFO(op_case.line);
      exceptions.has("forward " + op_case.line);
      exceptions.has("partly " + op_case.line);
      if (exceptions.has("without " + operator_of(op_case.line))) {
        CHECK_FALSE(registry().knows(op_case.node));
        continue;
      }
      // Sums in another order, and functions by polynomials: some ulps of a sum of up to a few
      // hundred products of order 1.
      const auto records = test_forward(
          op_case, name_, {.tolerance = ForwardTolerance{.relative = 1e-4, .absolute = 1e-5}});
      REQUIRE_FALSE(records.empty());
      const bool refused = exceptions.has("refused " + op_case.line);
      const bool varies = exceptions.has("varies " + op_case.line);
      for (const auto& record : records) {
        INFO(record.subject << ": " << record.metric << ": " << record.reason);
        const bool is_refused = record.status == Status::unsupported;
        CHECK((refused ? is_refused : right_(record) || (varies && is_refused)));
      }
    }
    exceptions.check_used();
  }

  /// Gradients against the slopes of its own forward.
  void check_gradients() const {
    Exceptions exceptions(folder_ / "operator_exceptions.txt");
    for (const auto& op_case : cases(seed_ + 1)) {
      INFO(op_case.line);
      if (exceptions.has("without " + operator_of(op_case.line)) ||
          exceptions.has("refused " + op_case.line) || exceptions.has("varies " + op_case.line)) {
        continue;
      }
      if (exceptions.has("forward " + op_case.line)) {
        CHECK_THROWS_AS(OperatorRunner(registry(), op_case.node, op_case.inputs, Mode::training),
                        Unsupported);
        continue;
      }
      const auto records = test_gradient(op_case, name_);
      REQUIRE_FALSE(records.empty());
      const bool partly = exceptions.has("partly " + op_case.line);
      const auto is_refused = [](const Measurement& one) {
        return one.status == Status::unsupported;
      };
      CHECK(std::ranges::any_of(records, is_refused) == partly);
      for (const auto& record : records) {
        INFO(record.subject << ": " << record.metric << ": " << record.reason);
        const bool nothing_to_check = record.reason == "no input is differentiable" ||
                                      record.status == Status::skipped;  // no output is float64
        CHECK((right_(record) || (right_ == agrees && nothing_to_check) ||
               (partly && is_refused(record))));
      }
    }
  }

  /// Gradients on the lines on which the reference's are checked.
  void check_gradient_table() const {
    Exceptions exceptions(folder_ / "gradient_exceptions.txt");
    std::size_t passed = 0;
    for (const auto& [name, row] : gradient_table(root())) {
      for (const std::string& line : row.cases) {
        const OperatorCase op_case = parse_case(line, 1);
        if (!registry().knows(op_case.node)) continue;
        const bool varies = exceptions.has("varies " + line);
        const Status expected = exceptions.has("refused " + line) ? Status::unsupported
                                : exceptions.has("other " + line) ? Status::failed
                                                                  : Status::passed;
        for (const auto& record : test_gradient(op_case, name_)) {
          INFO(record.subject << ": " << record.reason);
          if (varies && record.status == Status::failed) continue;
          const bool agrees_on_nothing = expected == Status::passed && agrees(record);
          CHECK((record.status == expected || agrees_on_nothing));
          passed += record.status == Status::passed ? 1 : 0;
        }
      }
    }
    CHECK(passed > 0);
    exceptions.check_used();
  }

 private:
  [[nodiscard]] std::filesystem::path root() const { return folder_ / "../../.."; }

  [[nodiscard]] std::vector<OperatorCase> cases(std::uint64_t seed) const {
    std::vector<OperatorCase> drawn;
    for (const auto& file :
         {root() / "tests/level0_ops/framework_operators.txt", folder_ / "operators.txt"}) {
      for (const CaseLine& one : read_cases(file.string(), seed)) drawn.push_back(one.draw());
    }
    return drawn;
  }

  std::string name_;
  std::filesystem::path folder_;
  Right right_;
  std::uint64_t seed_;
};

}  // namespace d5::testing
