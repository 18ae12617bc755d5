// SPDX-License-Identifier: Apache-2.0
// One node by itself and as a network of one, in the reference and in the other frameworks. A case
// is a line of the case grammar. What the reference refuses all refuse, what it computes all
// compute alike, and a second run gives what the first gave.
#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/known_differences.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/node_line.hpp"
#include "fuzz/node_runs.hpp"

namespace d5::fuzz {

std::string name() { return "node"; }

void prepare() { (void)frameworks_under_test(); }

std::string make_case(RandomStream& random) {
  return one_in(random, 2) ? line_by_schema(random) : changed_line(random);
}

std::string run_case(const std::string& line) {
  const OperatorCase op_case = parse_case(line, stream_of(line));
  const Outcome expected = run_alone(op_case, "reference");
  std::string wrong =
      difference(expected, run_in_network(op_case, "reference"), "the reference as a network");
  for (const std::string& framework : frameworks_under_test()) {
    const double tolerance = known_tolerance(op_case, framework);
    std::string its;
    const auto judge = [&](const auto& run, const std::string& who) {
      if (!its.empty()) return;
      const Outcome got = run(op_case, framework);
      if (!expected.error.empty() && checks_less(framework)) return;  // it did not crash
      its = difference(expected, got, who, tolerance);
    };
    judge(run_alone, framework);
    judge(run_in_network, framework + " as a network");
    judge(run_by_own_executor, framework + "'s own executor");
    if (wrong.empty() && !is_known_to_differ(op_case, framework)) wrong = its;
  }
  if (wrong.empty() && !expected.error.empty()) throw ValueError(expected.error);
  return wrong;
}

}  // namespace d5::fuzz
