// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map.hpp"

#include <pybind11/typing.h>

#include <variant>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/prediction/overlap/overlap_search.hpp"
#include "level2_training/training/session_options.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

using KernelOfPython = py::typing::Callable<py::object()>;
/// CASE lines, or functions by name.
using KernelChoice =
    std::variant<std::vector<std::string>, py::typing::Dict<py::str, KernelOfPython>>;

KernelScale kernel_scale(const std::string& word) {
  if (word == "l2") return KernelScale::l2;
  if (word == "l3") return KernelScale::l3;
  if (word == "memory") return KernelScale::memory;
  if (word == "full") return KernelScale::full;
  throw ValueError("scale is '" + printable(word) + "', expected l2, l3, memory or full");
}

std::vector<OverlapKernel> kernels_of_python(
    const py::typing::Dict<py::str, KernelOfPython>& functions) {
  std::vector<OverlapKernel> kernels;
  for (const auto& [name, function] : functions) {
    const auto held =
        std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(function));
    kernels.push_back({.name = name.cast<std::string>(),
                       .run = [held] { call_python([&] { held->object(); }); }});
  }
  return kernels;
}

Measurements map_overlap(const KernelChoice& choice, const std::string& model, std::int64_t batch,
                         const std::string& scale, const std::string& framework,
                         const std::vector<std::string>& resources, const std::string& all_reduce,
                         std::int64_t bytes, int pairs, double most_seconds, const Anything& say,
                         const SharedRanks& group) {
  OverlapMapOptions options;
  options.all_reduce = entry_of_words("all-reduce", all_reduce);
  options.bytes = bytes;
  options.resources.clear();
  options.pairs = pairs;
  options.most_seconds = most_seconds;
  for (const std::string& words : resources) {
    options.resources.push_back(resources_of(words));
    expect_usable(options.resources.back());
  }
  const SharedRanks ranks = group ? group : job_of_python();
  if (ranks->rank() == 0) options.say = to_say(say);
  const auto* lines = std::get_if<std::vector<std::string>>(&choice);
  std::vector<OverlapKernel> kernels;
  if (!lines) kernels = kernels_of_python(std::get<1>(choice));
  const KernelScale size = kernel_scale(scale);
  std::vector<Measurement> records;
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    if (!model.empty()) {
      kernels = kernels_of_network(model, batch, framework);
    } else if (lines) {
      kernels = kernels_of_cases(lines->empty() ? study_kernel_cases(size) : *lines, framework);
    }
    records = overlap_map(kernels, options, *ranks);
  });
  for (Measurement& record : records) record.framework = lines ? framework : "python";
  return Measurements(records);
}

Measurements search_overlap(const std::vector<std::string>& models, std::int64_t batch,
                            const std::vector<std::string>& resources,
                            const std::vector<std::int64_t>& buckets, const std::string& all_reduce,
                            const std::string& framework, int rounds, int steps_per_block,
                            double most_seconds, const Path& out, bool resume, const Anything& say,
                            const SharedRanks& group) {
  OverlapSearchOptions options{.models = models,
                               .batch = batch,
                               .candidates = {},
                               .all_reduce = all_reduce,
                               .framework = framework,
                               .rounds = rounds,
                               .steps_per_block = steps_per_block,
                               .most_seconds = most_seconds,
                               .out = out.string(),
                               .resume = resume};
  for (const std::int64_t size : buckets) {
    for (const std::string& words : resources) {
      expect_usable(resources_of(words));
      options.candidates.push_back({words, size});
    }
  }
  const SharedRanks ranks = group ? group : job_of_python();
  if (ranks->rank() == 0) options.say = to_say(say);
  std::vector<Measurement> records;
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    records = overlap_search(options, *ranks);
  });
  return Measurements(records);
}

}  // namespace

void bind_overlap_map(py::module_& m) {
  const OverlapMapOptions map;
  const OverlapSearchOptions search;
  m.def("_overlap_map", &map_overlap, py::arg("kernels"), py::kw_only(), py::arg("model"),
        py::arg("batch"), py::arg("scale"), py::arg("framework"), py::arg("resources"),
        py::arg("all_reduce"), py::arg("bytes"), py::arg("pairs"), py::arg("most_seconds"),
        py::arg("say"), py::arg("group") = py::none(), "Implements d5.overlap_map.");
  m.def("_overlap_search", &search_overlap, py::arg("models"), py::kw_only(), py::arg("batch"),
        py::arg("resources"), py::arg("buckets"), py::arg("all_reduce"), py::arg("framework"),
        py::arg("rounds"), py::arg("steps_per_block"), py::arg("most_seconds"), py::arg("out"),
        py::arg("resume"), py::arg("say"), py::arg("group") = py::none(),
        "Implements d5.overlap_search.");
  m.def(
      "study_kernel_cases",
      [](const std::string& scale) { return study_kernel_cases(kernel_scale(scale)); },
      py::arg("scale") = "l2",
      "Operators of a published study of communication beside kernels, as CASE lines; their data "
      "fits the cache l2 or l3, is in memory, or is as large as in the study (full).");
  m.def(
      "overlap_map_plots",
      [](const std::vector<Measurement>& rows) { return overlap_map_plots(rows); }, py::arg("rows"),
      "Two pictures of an overlap map.");
  m.def(
      "overlap_parts_table",
      [](const std::vector<Measurement>& rows) { return overlap_parts_table(rows); },
      py::arg("rows"), "Breakdown of a step's time, from the rows of an overlap search.");
}

}  // namespace d5::python
