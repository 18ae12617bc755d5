// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/output_evidence.hpp"

#include <fmt/format.h>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/varied.hpp"

namespace d5::detail {
namespace {

/// Whether the output is the same constant for scaled inputs of the same signs.
bool stays(const OperatorCase& one, const std::string& reference, std::size_t output,
           const std::string& constant) {
  const auto& registry = framework(reference).part<OperatorRegistry>();
  OperatorCase other = one;
  bool any = false;
  for (const std::size_t i :
       differentiable_inputs(one, *operator_for(one.node, std::vector{&registry}))) {
    const Tensor& input = one.inputs[i].tensor();
    other.inputs[i] = varied(input, Variation::scaled, i);
    any = any || input.elements() > 0;
  }
  if (!any) return false;
  OperatorRunner runner(registry, one.node, other.inputs);
  runner.forward();
  runner.synchronise();
  return constant_in(runner.output(output)) == constant;
}

}  // namespace

void weigh_output(Measurement& record, const std::string& what, const OperatorCase& one,
                  const std::string& reference, std::size_t output, const Value& wanted) {
  const bool is_written = !one.expected.empty();
  weigh_evidence(record, what, wanted, is_written ? Expectation::written : Expectation::computed);
  if (is_written || compared_nothing(record)) return;
  const std::string constant = constant_in(wanted);
  if (constant.empty()) return;
  try {
    if (!stays(one, reference, output, constant)) return;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // other inputs need not be valid
    return;
  }
  const auto elements = wanted.tensor().elements();
  mistrust_uncompared(record, what,
                      fmt::format("the reference's answers are {} in {} of {} elements, for other "
                                  "inputs, too: give inputs",
                                  constant, elements, elements));
}

}  // namespace d5::detail
