// SPDX-License-Identifier: Apache-2.0
// Lines of the case grammar: read, the same each time, or refused.
#include <fmt/format.h>

#include "d5/level0_ops/operator_case.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/node_line.hpp"

namespace d5::fuzz {

std::string name() { return "case_line"; }

void prepare() {}

std::string make_case(RandomStream& random) {
  const std::string line = one_in(random, 3) ? line_by_schema(random) : changed_line(random);
  return one_in(random, 4) ? with_other_number(line, random) : with_damage(line, random);
}

std::string run_case(const std::string& line) {
  const OperatorCase once = parse_case(line, 1), again = parse_case(line, 1);
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
