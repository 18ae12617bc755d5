// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <future>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level0_ops/bench.hpp"
#include "d5/level2_training/training_step_bench.hpp"

namespace d5::python {
namespace {

/// Runs `work` in a thread of its own, while this one, which alone hears Ctrl-C in Python, listens.
std::vector<Measurement> interruptible(
    const std::function<std::vector<Measurement>(Interrupt)>& work) {
  std::stop_source stop;
  auto results = std::async(std::launch::async, [&] { return work({.token = stop.get_token()}); });
  bool interrupted = false;
  while (!interrupted) {
    {
      const py::gil_scoped_release release;
      if (results.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready) break;
    }
    interrupted = PyErr_CheckSignals() != 0;
    if (interrupted) stop.request_stop();
  }
  std::vector<Measurement> measured;
  {
    const py::gil_scoped_release release;
    measured = results.get();
  }
  if (interrupted) throw py::error_already_set();
  return measured;
}

BenchOptions::Passes passes_of(const std::string& word) {
  using enum BenchOptions::Passes;
  if (word == "forward") return forward;
  if (word == "backward") return backward;
  if (word == "both") return both;
  throw ValueError("passes is '" + printable(word) + "', expected forward, backward or both");
}

}  // namespace

void bind_bench(py::module_& m) {
  m.def(
      "bench",
      [](const std::string& line, const std::vector<std::string>& frameworks,
         const std::string& passes, const std::vector<std::string>& metrics, int samples,
         std::uint64_t seed) {
        const BenchOptions options{.frameworks = frameworks,
                                   .passes = passes_of(passes),
                                   .metrics = {metrics.begin(), metrics.end()},
                                   .measuring = {.samples = samples, .seed = seed}};
        return interruptible([&](const Interrupt& interrupt) {
          BenchOptions until = options;
          until.measuring.interrupt = interrupt;
          return bench(line, until);
        });
      },
      py::arg("case"), py::kw_only(), py::arg("frameworks") = std::vector<std::string>{"reference"},
      py::arg("passes") = "both", py::arg("metrics") = std::vector<std::string>{"time"},
      py::arg("samples") = 30, py::arg("seed") = 0,
      "One operator in several frameworks, interleaved: `d5 op bench`.");
  m.def(
      "bench_network",
      [](const std::string& model, const std::vector<std::string>& frameworks, std::int64_t batch,
         bool training, const std::vector<std::string>& metrics, int samples, std::uint64_t seed) {
        const NetworkBenchOptions options{.frameworks = frameworks,
                                          .sizes = {.batch = batch},
                                          .metrics = {metrics.begin(), metrics.end()},
                                          .measuring = {.samples = samples, .seed = seed}};
        return interruptible([&](const Interrupt& interrupt) {
          NetworkBenchOptions until = options;
          until.measuring.interrupt = interrupt;
          return training ? bench_training_step(model, until) : bench_network(model, until);
        });
      },
      py::arg("model"), py::kw_only(),
      py::arg("frameworks") = std::vector<std::string>{"reference"}, py::arg("batch") = 1,
      py::arg("training") = false,
      py::arg("metrics") = std::vector<std::string>{"time", "framework_overhead"},
      py::arg("samples") = 30, py::arg("seed") = 0,
      "One network in several frameworks, interleaved: `d5 net bench`.");
}

}  // namespace d5::python
