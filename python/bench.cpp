// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench/bench.hpp"

#include <algorithm>
#include <variant>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_step_bench.hpp"
#include "declared_keywords.hpp"
#include "level1_network/given_inputs.hpp"
#include "level1_network/model_file.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

BenchOptions::Passes passes_of(const std::string& word) {
  const auto place = passes_by_name().find(word);
  if (place != passes_by_name().end()) return place->second;
  throw ValueError("passes is '" + printable(word) +
                   "', expected forward, backward, backward-data, backward-weights or both");
}

}  // namespace

void bind_bench(py::module_& m) {
  m.def(
      "bench",
      [](const std::string& line, const std::vector<std::string>& frameworks,
         const std::string& passes, const std::vector<std::string>& metrics, std::uint64_t seed,
         double isolate, const Options& keywords) {
        BenchOptions options{.frameworks = frameworks,
                             .passes = passes_of(passes),
                             .metrics = {metrics.begin(), metrics.end()},
                             .measuring = read_keywords<MeasureOptions>(keywords, "d5.bench"),
                             .isolation = {.most_seconds = isolate}};
        options.measuring.seed = seed;
        std::vector<Measurement> results;
        long_call([&](const Interrupt& interrupt) {
          options.measuring.interrupt = interrupt;
          options.isolation.interrupt = interrupt;
          results = bench(line, options);
        });
        return Measurements(results);
      },
      py::arg("case"), py::kw_only(), py::arg("frameworks") = std::vector<std::string>{"reference"},
      py::arg("passes") = "both", py::arg("metrics") = std::vector<std::string>{"time"},
      py::arg("seed") = 0, py::arg("isolate") = 0.0,
      "Benchmarks one operator in several frameworks, interleaved: `d5 op bench`. With isolate=S "
      "each pass runs in a process of its own, as in test_forward. Outputs are checked before and "
      "after the measurement, unless unjudged=True; judge_seconds limits the time of the reference "
      "for that check.");
  tell_keywords(m, "bench", options_of<MeasureOptions>());
  m.def(
      "bench_network",
      [](const NetworkOrFile& model, const std::vector<std::string>& frameworks,
         const std::variant<std::int64_t, std::vector<std::int64_t>>& batch,
         const std::map<std::string, std::int64_t>& dims, const Anything& inputs, bool training,
         const std::vector<std::string>& metrics, std::uint64_t seed, bool profile,
         const std::vector<std::string>& transforms, const std::vector<std::string>& placement,
         const std::string& loss, const Options& keywords) {
        if (!loss.empty() && !training)
          throw ValueError("loss is for training steps: add training=True");
        NetworkBenchOptions options{
            .frameworks = frameworks,
            .metrics = {metrics.begin(), metrics.end()},
            .profile = profile,
            .measuring = read_keywords<MeasureOptions>(keywords, "d5.bench_network")};
        options.measuring.seed = seed;
        options.sizes.by_name = dims;
        options.inputs = to_given_inputs(inputs);
        options.transforms = transform_chain(transforms);
        for (const auto& rule : placement) options.placement.push_back(placement_rule(rule));
        const ModelFile file(model);
        std::vector<Measurement> results;
        const auto* one = std::get_if<std::int64_t>(&batch);
        const auto sizes = one ? std::vector{*one} : std::get<std::vector<std::int64_t>>(batch);
        long_call([&](const Interrupt& interrupt) {
          options.measuring.interrupt = interrupt;
          for (const std::int64_t size : sizes) {
            options.sizes.batch = size;
            file.run([&] {
              auto of_size = training ? bench_training_step(file.word(), options, loss)
                                      : bench_network(file.word(), options);
              std::ranges::move(of_size, std::back_inserter(results));
            });
          }
        });
        file.rename_in(results);
        return Measurements(results);
      },
      py::arg("model"), py::kw_only(),
      py::arg("frameworks") = std::vector<std::string>{"reference"}, py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(), py::arg("inputs") = py::none(),
      py::arg("training") = false,
      py::arg("metrics") = std::vector<std::string>{"time", "framework_overhead"},
      py::arg("seed") = 0, py::arg("profile") = false,
      py::arg("transforms") = std::vector<std::string>(),
      py::arg("placement") = std::vector<std::string>(), py::arg("loss") = "",
      "Benchmarks one network in several frameworks, interleaved: `d5 net bench`. `loss` is the "
      "loss for training a network without one (\"cross_entropy\"). Several batch sizes run one "
      "after the other. `dims` are sizes of open dimensions by name; `inputs` are as in "
      "run_network. With profile=True also the times of each operator type, layer and node "
      "(conditions 'by', 'operator', 'layer', 'node', 'direction'). Outputs are checked before and "
      "after the measurement, unless unjudged=True; if the reference takes longer than "
      "judge_seconds, another framework checks them.");
  tell_keywords(m, "bench_network", options_of<MeasureOptions>());
}

}  // namespace d5::python
