// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/work_list.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <optional>

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/pivot.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

using Rows = py::typing::Callable<std::vector<Measurement>()>;

std::vector<WorkPiece> pieces_of(const py::typing::Dict<py::str, Rows>& work) {
  std::vector<WorkPiece> pieces;
  for (const auto& [name, function] : work) {
    WorkPiece& piece = pieces.emplace_back();
    piece.record = error_record();
    piece.record.subject = answered<std::string>(name, "d5.run_work: a name in work", "a text");
    if (!PyCallable_Check(function.ptr())) {
      throw TypeError(fmt::format("d5.run_work: the work '{}' is {}, expected a function",
                                  printable(piece.record.subject), shown(function)));
    }
    const auto held =
        std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(function));
    piece.run = [held, who = fmt::format("the work '{}'", piece.record.subject)](
                    const std::function<void()>& sampled) {
      auto rows = call_python([&] {
        return answered<std::vector<Measurement>>(held->object(), who, "a list of measurements");
      });
      sampled();
      return rows;
    };
  }
  return pieces;
}

}  // namespace

void bind_work_list(py::module_& m) {
  m.def(
      "run_work",
      [](const py::typing::Dict<py::str, Rows>& work, const std::optional<Path>& out, bool resume,
         const std::string& how, const std::string& filter, const std::string& progress) {
        auto pieces = pieces_of(work);
        if (!filter.empty()) pieces = matching(pieces, filter);
        WorkDone done;
        long_call([&](const Interrupt& interrupt) {
          done = run_work(pieces, {.what = progress,
                                   .how = how,
                                   .out = out ? out->string() : "",
                                   .resume = resume,
                                   .interrupt = interrupt});
        });
        if (done.unwritten) std::rethrow_exception(done.unwritten);
        return Measurements(done.results.measurements);
      },
      py::arg("work"), py::kw_only(), py::arg("out") = py::none(), py::arg("resume") = false,
      py::arg("how") = "", py::arg("filter") = "", py::arg("progress") = "",
      "Runs many cases one after the other: functions by name, each returning rows. Among several, "
      "one that raises is a failed row and ends nothing. With `out`, a results file, the rows are "
      "also written to a journal beside it at once. With resume=True the cases in it are not run "
      "again, if `how`, which names what all cases share, is the same: {\"Relu 8\": lambda: "
      "d5.bench(\"Relu 8\"), ...}. `filter`: regular expression on names; `progress`: a word for "
      "lines on stderr.");
  m.def(
      "pivot",
      [](const std::vector<Measurement>& rows, const std::string& by) { return pivot(rows, by); },
      py::arg("rows"), py::arg("by"),
      "A table of cases by \"framework\", \"device\" or a condition such as \"threads\", with "
      "ratios and their geometric means: `--pivot`.");
}

}  // namespace d5::python
