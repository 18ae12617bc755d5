// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/node/memory_window.hpp"

#include <map>
#include <optional>

#include "bindings.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "level3_distributed/python_request.hpp"

namespace d5::python {
namespace {

using Window = std::shared_ptr<MemoryWindow>;

/// A lock as a context manager.
class HeldLock {
 public:
  HeldLock(Window window, int target, WindowLockKind kind)
      : window_(std::move(window)), target_(target), kind_(kind) {}
  void enter() { lock_.emplace(window_->lock(target_, kind_)); }
  void exit() { lock_.reset(); }

 private:
  Window window_;
  int target_;
  WindowLockKind kind_;
  std::optional<MemoryWindow::Lock> lock_;
};

Window make_window(std::shared_ptr<Communicator> ranks, std::size_t bytes,
                   const std::string& kind) {
  static const std::map<std::string, MemoryWindowKind> kinds{
      {"automatic", MemoryWindowKind::automatic},
      {"node", MemoryWindowKind::node},
      {"library", MemoryWindowKind::library}};
  const auto found = kinds.find(kind);
  if (found == kinds.end()) {
    throw_unknown_name("kind of window", kind, {"automatic", "node", "library"});
  }
  return make_memory_window(std::move(ranks), bytes, found->second);
}

}  // namespace

void bind_memory_window(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  py::class_<HeldLock>(m, "WindowLock", "with window.lock(rank): ...")
      .def(
          "__enter__", [](HeldLock& lock) { lock.enter(); }, released)
      .def(
          "__exit__",
          [](HeldLock& lock, const Anything&, const Anything&, const Anything&) {
            const py::gil_scoped_release without;
            lock.exit();
          },
          py::arg("kind"), py::arg("error"), py::arg("traceback"));
  py::class_<MemoryWindow, Window>(
      m, "MemoryWindow",
      "Memory of each rank that all other ranks read and write directly; offsets in bytes.\n\n"
      "    window = d5.MemoryWindow(d5.world(), 8)\n"
      "    ticket = window.fetch_and_add(0, 0, 1)             # a counter at rank 0\n"
      "    with window.lock(2):\n"
      "        window.put(gradient, 2)")
      .def(py::init(&make_window), py::arg("ranks").none(false), py::arg("bytes"),
           py::arg("kind") = "automatic", released,
           "Allocates that many zero bytes at this rank. A collective. `kind`: automatic, node, or "
           "library.")
      .def(
          "put",
          [](MemoryWindow& window, ReadTensor data, int target, std::size_t offset) {
            window.put(data.tensor, target, offset);
          },
          py::arg("data"), py::arg("target"), py::arg("offset") = 0, released,
          "Writes `data` to the target's memory. Another rank sees it after `flush` and a message, "
          "or under the same lock.")
      .def(
          "get",
          [](MemoryWindow& window, Tensor data, int target, std::size_t offset) {
            window.get(data, target, offset);
            return data;
          },
          py::arg("data"), py::arg("target"), py::arg("offset") = 0, released,
          "Overwrites `data` with the target's memory.")
      .def(
          "accumulate",
          [](MemoryWindow& window, ReadTensor data, int target, std::size_t offset,
             const std::string& reduction) {
            window.accumulate(data.tensor, target, offset, reduction_of(reduction));
          },
          py::arg("data"), py::arg("target"), py::arg("offset") = 0, py::arg("reduction") = "sum",
          released,
          "Combines `data` with the target's memory by `reduction`, atomically per element among "
          "accumulates.")
      .def("fetch_and_add", &MemoryWindow::fetch_and_add, py::arg("target"), py::arg("offset"),
           py::arg("value"), released, "Adds to an int64. Returns its former value.")
      .def("compare_and_swap", &MemoryWindow::compare_and_swap, py::arg("target"),
           py::arg("offset"), py::arg("expected"), py::arg("desired"), released,
           "Replaces an int64 by `desired` if it equals `expected`, atomically. Returns its former "
           "value.")
      .def(
          "lock",
          [](const Window& window, int target, bool shared) {
            return std::make_unique<HeldLock>(
                window, target, shared ? WindowLockKind::shared : WindowLockKind::exclusive);
          },
          py::arg("target"), py::kw_only(), py::arg("shared") = false,
          "Context in which no other rank holds the target's part, or only others that share it.")
      .def("flush", &MemoryWindow::flush, py::arg("target"), released,
           "Completes this rank's writes to the target's part.")
      .def("bytes", &MemoryWindow::bytes, py::arg("rank"), "Size of a rank's part in bytes.")
      .def_property_readonly("local", &MemoryWindow::local, "This rank's part, as bytes.");
}

}  // namespace d5::python
