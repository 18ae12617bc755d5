// SPDX-License-Identifier: Apache-2.0
// Lines of the case grammar: read, the same each time, or refused.
#include <fmt/format.h>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/node_line.hpp"

namespace d5::fuzz {

std::string name() { return "case_line"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  if (one_in(random, 8)) {
    const std::string line = fmt::format(
        "Gemm {{m}}x{{k}} {{k}}x3 alpha={{a}} for m={},2 k={}..{}*{} a=1,0.5", some_integer(random),
        some_integer(random), some_integer(random), some_integer(random));
    return one_in(random, 2) ? line : with_damage(line, random);
  }
  const std::string line = one_in(random, 3) ? line_by_schema(random) : changed_line(random);
  return one_in(random, 4) ? with_other_number(line, random) : with_damage(line, random);
}

std::string run_case(const std::string& line) {
  const auto cases = expand_case(line, 1);
  for (const CaseLine& one : {cases.front(), cases.back()}) {
    const auto itself = expand_case(one.line, 1);
    if (itself.size() != 1 || itself[0].line != one.line) return one.line + " is no one case";
  }
  const std::string& first = cases.front().line;
  const OperatorCase once = parse_case(first, 1), again = parse_case(first, 1);
  if (once.node.inputs.size() != once.inputs.size()) return "the node has other inputs";
  for (std::size_t i = 0; i < once.inputs.size(); ++i) {
    const auto difference =
        compare_values(again.inputs[i], once.inputs[i], {.relative = 0, .absolute = 0});
    if (!difference.equal) return fmt::format("input {} differs: {}", i, difference.where);
  }
  (void)read_case_words({line}, 1);
  return {};
}

}  // namespace d5::fuzz
