// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/profile/network_run.hpp"
#include "d5/level1_network/validation/network_check.hpp"
#include "d5/level1_network/validation/network_reduction.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"
#include "lent_outputs.hpp"
#include "level1_network/given_inputs.hpp"
#include "level1_network/model_file.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

/// If neither is given, the rounding bound decides.
std::optional<ForwardTolerance> tolerance_of(const std::optional<double>& rtol,
                                             const std::optional<double>& atol) {
  if (!rtol && !atol) return std::nullopt;
  return ForwardTolerance{.relative = rtol.value_or(0), .absolute = atol.value_or(0)};
}

/// Returns an empty function for None.
std::function<void(const ReductionProgress&)> to_progress(const Anything& progress) {
  if (progress.is_none()) return {};
  const auto function = std::make_shared<PythonReference>(progress);
  return [function](const ReductionProgress& now) {
    call_python([&] { function->object(now.nodes, now.tries, now.seconds); });
  };
}

MakeExecutor makes(const std::vector<std::string>& frameworks, std::uint64_t seed) {
  return [=](Network network) {
    return open_executor(ExecutorWord(frameworks), std::move(network), {.seed = seed});
  };
}

Placement placement_of(const std::vector<std::string>& rules) {
  Placement placement;
  for (const auto& rule : rules) placement.push_back(placement_rule(rule));
  return placement;
}

void bind_network_check(py::module_& m) {
  m.def(
      "check_network",
      [](const NetworkOrFile& model, const std::vector<std::string>& frameworks,
         const std::string& against, std::int64_t batch,
         const std::map<std::string, std::int64_t>& dims, const Anything& inputs,
         const std::vector<std::string>& transforms, const std::vector<std::string>& placement,
         bool by_node, bool backward, std::int64_t numeric, std::uint64_t seed,
         std::optional<double> rtol, std::optional<double> atol) {
        GivenInputs given = to_given_inputs(inputs);
        const ModelFile file(model);
        NetworkCheckOptions options{
            .frameworks = frameworks,
            .against = against,
            .sizes = {.batch = batch, .by_name = dims},
            .inputs = std::move(given),
            .transforms = transform_chain(transforms),
            .execution = {.seed = seed, .placement = placement_of(placement)},
            .tolerance = tolerance_of(rtol, atol),
            .by_node = by_node,
            .backward = backward,
            .numeric = numeric};
        std::vector<Measurement> rows;
        long_call([&](const Interrupt& interrupt) {
          options.interrupt = interrupt;
          file.run([&] { rows = check_network(file.word(), options); });
        });
        file.rename_in(rows);
        return Measurements(rows);
      },
      py::arg("model"), py::kw_only(),
      py::arg("frameworks") = std::vector<std::string>{"reference"},
      py::arg("against") = "reference", py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(), py::arg("inputs") = py::none(),
      py::arg("transforms") = std::vector<std::string>(),
      py::arg("placement") = std::vector<std::string>(), py::arg("by_node") = false,
      py::arg("backward") = false, py::arg("numeric") = 0, py::arg("seed") = 0,
      py::arg("rtol") = py::none(), py::arg("atol") = py::none(),
      "Validates a network, a d5.Network or a model of open_model: `d5 net check`. A test folder "
      "is "
      "compared with its expected outputs. "
      "Any other model of open_model, and one with `inputs`, is compared with the framework "
      "`against`, including gradients if it has a loss. With transforms, the network is compared "
      "with the original. `inputs` are as in run_network. `d5.reduce` finds the few nodes that "
      "differ.");
  m.def(
      "reduce",
      [](const NetworkOrFile& model, const std::string& framework, const Path& folder,
         const std::string& against, bool backward, double slower, double isolate,
         double most_seconds, std::int64_t batch, const std::map<std::string, std::int64_t>& dims,
         const Anything& inputs, const std::vector<std::string>& transforms, std::uint64_t seed,
         const Anything& progress) {
        GivenInputs given = to_given_inputs(inputs);
        const ModelFile file(model);
        NetworkCheckOptions options{.frameworks = {framework},
                                    .against = against,
                                    .sizes = {.batch = batch, .by_name = dims},
                                    .inputs = std::move(given),
                                    .transforms = transform_chain(transforms),
                                    .execution = {.seed = seed},
                                    .backward = backward,
                                    .reduce = folder.string(),
                                    .slower = slower,
                                    .reduce_seconds = most_seconds,
                                    .on_reduction = to_progress(progress),
                                    .isolation = {.most_seconds = isolate}};
        std::vector<Measurement> rows;
        long_call([&](const Interrupt& interrupt) {
          options.interrupt = interrupt;
          file.run([&] { rows = check_network(file.word(), options); });
        });
        file.rename_in(rows);
        return rows.at(0);
      },
      py::arg("model"), py::kw_only(), py::arg("framework"), py::arg("folder"),
      py::arg("against") = "reference", py::arg("backward") = false, py::arg("slower") = 0.0,
      py::arg("isolate") = 0.0, py::arg("most_seconds") = 600.0, py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(), py::arg("inputs") = py::none(),
      py::arg("transforms") = std::vector<std::string>(), py::arg("seed") = 0,
      py::arg("progress") = py::none(),
      "Finds the few nodes in which `framework` differs from `against`: `d5 net check --reduce`. "
      "They are written to `folder`, with data, a README and a program that shows the difference. "
      "The row is their number, 0 without a difference. After an interruption, the same call "
      "continues. With `backward`, gradients count, too; with slower=X, nodes that take X times as "
      "long. With isolate=S each try runs in a process of its own for at most S seconds, so that a "
      "crash or a hang counts. `inputs` are as in run_network. progress(nodes, tries, seconds) is "
      "called after each try, with the number of nodes of the smallest part so far; an exception "
      "ends the call. For a single operator: check_operator(reduce=True).");
  m.def(
      "run_network",
      [](const NetworkOrFile& model, const Anything& inputs, const std::string& framework,
         std::int64_t batch, const std::map<std::string, std::int64_t>& dims,
         const std::vector<std::string>& transforms, std::uint64_t seed) {
        GivenInputs given = to_given_inputs(inputs);
        const ModelFile file(model);
        NetworkRunOptions options{.frameworks = {framework},
                                  .sizes = {.batch = batch, .by_name = dims},
                                  .transforms = transform_chain(transforms),
                                  .execution = {.seed = seed},
                                  .inputs = std::move(given)};
        ValueMap answered;
        options.on_run = [&](const Measurement&, const ValueMap& outputs) { answered = outputs; };
        long_call([&](const Interrupt&) {
          file.run([&] { (void)run_networks({file.word()}, options); });
        });
        return named_outputs(copy_values(answered));
      },
      py::arg("model"), py::arg("inputs") = py::none(), py::kw_only(),
      py::arg("framework") = "reference", py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(),
      py::arg("transforms") = std::vector<std::string>(), py::arg("seed") = 0,
      "Runs a network and returns its outputs by name: `d5 net run`. `inputs`: arrays, or paths of "
      "files (.npy, .pb), by name; the path of one file; or a list of words as of the program's "
      "--input (\"x=x.npy\", \"all.npz\"). Inputs that are left out come from a test folder, or "
      "are random.");
}

}  // namespace

void bind_network_validation(py::module_& m) {
  bind_network_check(m);
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
      "Feeds both executors the same inputs and compares every output, and with `loss` every "
      "parameter's gradient. Without rtol and atol the rounding bound decides: "
      "docs/reference/level1.md, "
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
      "Two rows per node, in running order: 'accumulated_error', if all nodes before it ran in "
      "`frameworks`, too, and 'own_error', if it alone does, on the values of `against`: `d5 net "
      "check --by-node`.");
  m.def(
      "first_to_differ",
      [](const std::vector<Measurement>& rows) -> std::optional<Measurement> {
        const Measurement* first = first_to_differ(rows);
        return first ? std::optional(*first) : std::nullopt;
      },
      py::arg("rows"),
      "The first row of compare_nodes that failed although all of the node's inputs agreed.");
}

}  // namespace d5::python
