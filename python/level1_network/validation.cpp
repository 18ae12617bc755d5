// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/level1_network/node_comparison.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

/// Neither given: what rounding can do judges.
std::optional<ForwardTolerance> tolerance_of(const std::optional<double>& rtol,
                                             const std::optional<double>& atol) {
  if (!rtol && !atol) return std::nullopt;
  return ForwardTolerance{.relative = rtol.value_or(0), .absolute = atol.value_or(0)};
}

MakeExecutor makes(const std::vector<std::string>& frameworks, std::uint64_t seed) {
  return [=](Network network) {
    return open_executor(word_of(frameworks), std::move(network), {.seed = seed});
  };
}

}  // namespace

void bind_network_validation(py::module_& m) {
  m.def(
      "test_executor",
      [](GraphExecutor& subject, GraphExecutor& reference, const Values& inputs,
         const std::string& loss, std::optional<double> rtol, std::optional<double> atol) {
        const Use of_subject(&subject, "the executor"), of_reference(&reference, "the reference");
        const ValueMap fed = to_values(inputs);
        std::vector<Measurement> rows;
        long_call([&](const Interrupt& interrupt) {
          const auto tolerance = tolerance_of(rtol, atol);
          rows = loss.empty()
                     ? test_executor(subject, reference, fed, tolerance, interrupt)
                     : test_executor_backprop(subject, reference, fed, loss, tolerance, interrupt);
        });
        return Measurements(rows);
      },
      py::arg("subject"), py::arg("reference"), py::arg("inputs"), py::kw_only(),
      py::arg("loss") = "", py::arg("rtol") = py::none(), py::arg("atol") = py::none(),
      "Feeds both executors the same and compares every output, and with `loss` every parameter's "
      "gradient. Without rtol and atol the bound is what rounding can do: docs/level1.md, "
      "'Right'.");
  m.def(
      "compare_nodes",
      [](const Network& network, const Values& inputs, const std::vector<std::string>& frameworks,
         const std::vector<std::string>& against, std::uint64_t seed, std::optional<double> rtol,
         std::optional<double> atol) {
        const ValueMap fed = to_values(inputs);
        std::vector<Measurement> rows;
        long_call([&](const Interrupt& interrupt) {
          rows = compare_nodes(network, makes(frameworks, seed), makes(against, seed), fed,
                               {.tolerance = tolerance_of(rtol, atol), .interrupt = interrupt});
        });
        return Measurements(rows);
      },
      py::arg("network"), py::arg("inputs"), py::kw_only(), py::arg("frameworks"),
      py::arg("against") = std::vector<std::string>{"reference"}, py::arg("seed") = 0,
      py::arg("rtol") = py::none(), py::arg("atol") = py::none(),
      "Two rows a node, in running order: 'accumulated_error', with all before it in `frameworks` "
      "too, and 'own_error', alone on the values of `against`: `d5 net check --by-node`.");
  m.def(
      "first_to_differ",
      [](const std::vector<Measurement>& rows) -> std::optional<Measurement> {
        const Measurement* first = first_to_differ(rows);
        return first ? std::optional(*first) : std::nullopt;
      },
      py::arg("rows"),
      "Of those of compare_nodes: the first that failed although all that the node read agreed.");
}

}  // namespace d5::python
