// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/timeline.hpp"

#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/core/trace/trace.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

const char* word_of_kind(TraceRecord::Kind kind) {
  switch (kind) {
    case TraceRecord::Kind::span:
      return "span";
    case TraceRecord::Kind::overlapping:
      return "overlapping";
    case TraceRecord::Kind::counter:
      return "counter";
  }
  return "span";
}

RowDicts rows_of_timeline(const Timeline& timeline) {
  return rows_of(timeline.records, [](Values& row, const TraceRecord& record) {
    row["kind"] = word_of_kind(record.kind);
    row["rank"] = record.rank;
    row["lane"] = record.lane;
    row["id"] = record.id;
    row["parent"] = record.parent;
    row["begin_ns"] = record.begin_ns;
    row["end_ns"] = record.end_ns;
    row["level"] = record.level;
    row["name"] = record.name;
  });
}

/// The object of `with d5.span("training", "mine"): ...`.
class PythonSpan {
 public:
  PythonSpan(std::string level, std::string name)
      : level_(std::move(level)), name_(std::move(name)) {}
  void enter() { begin_ = Trace::now_ns(); }
  void exit() const {
    Trace::add({.begin_ns = begin_, .end_ns = Trace::now_ns(), .level = level_, .name = name_});
  }

 private:
  std::string level_, name_;
  std::int64_t begin_ = 0;
};

/// The object of `with d5.trace() as recording: ...`.
struct Recording {
  std::optional<Timeline> timeline;
};

RowDicts device_rows() {
  return rows_of(devices(), [](Values& row, const DeviceInfo& info) {
    row["device"] = to_string(info.device);
    row["present"] = info.present;
    row["description"] = info.present ? info.description : info.reason;
    row["memory_bytes"] = info.memory_bytes;
  });
}

}  // namespace

void bind_timeline(py::module_& m) {
  py::class_<Timeline>(m, "Timeline", "Recorded spans of one or several ranks, on one clock.")
      .def_static(
          "read", [](const Path& path) { return read_timeline(path.string()); }, py::arg("path"),
          "Reads a trace that `write` or `--trace` wrote. Raises IoError; FormatError with the "
          "position.")
      .def(
          "write",
          [](const Timeline& timeline, const Path& path) {
            write_timeline(timeline, path.string());
          },
          py::arg("path"), "Writes a trace that ui.perfetto.dev opens.")
      .def("rows", &rows_of_timeline,
           "A dict per record, for pandas.DataFrame(timeline.rows()). Times in ns.")
      .def(py::pickle(
          [](const Timeline& timeline) { return to_json(timeline); },
          [](const std::string& json) { return timeline_from_json(json, "a pickled timeline"); }))
      .def("__len__", [](const Timeline& timeline) { return timeline.records.size(); })
      .def("__repr__", [](const Timeline& timeline) {
        return fmt::format("<d5.Timeline: {} records of {} ranks>", timeline.records.size(),
                           timeline.ranks.size());
      });
  py::class_<Recording>(m, "Recording", "The recording of `with d5.trace() as recording`.")
      .def("__enter__",
           [](const py::object& self) {
             Trace::start();
             return self;
           })
      .def(
          "__exit__",
          [](Recording& recording, const Anything&, const Anything&, const Anything&) {
            Trace::stop();
            recording.timeline = Trace::timeline();
          },
          py::arg("kind"), py::arg("error"), py::arg("traceback"))
      .def_readonly("timeline", &Recording::timeline,
                    "The timeline after the recording has ended; None before.");
  py::class_<PythonSpan>(m, "Span", "with d5.span(\"training\", \"my work\"): ...")
      .def("__enter__", &PythonSpan::enter)
      .def(
          "__exit__",
          [](const PythonSpan& span, const Anything&, const Anything&, const Anything&) {
            span.exit();
          },
          py::arg("kind"), py::arg("error"), py::arg("traceback"));
  m.def(
      "trace", [] { return Recording(); },
      "Records this process: with d5.trace() as recording: ...; then recording.timeline. "
      "run_traced records all ranks.");
  m.def(
      "span",
      [](std::string level, std::string name) {
        return PythonSpan(std::move(level), std::move(name));
      },
      py::arg("level"), py::arg("name"),
      "Adds a span of your own work to a trace; costs a µs if none is recorded.");
  m.def(
      "_check_writable", [](const Path& path) { check_writable(path.string()); }, py::arg("path"));
  m.def("devices", &device_rows, "A dict per device, the absent ones with their reasons.");
}

}  // namespace d5::python
