// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_event.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "in_place.hpp"
#include "level1_network/executor.hpp"
#include "level3_distributed/blocking_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// One call, with its own copies of texts.
struct CallFacts {
  explicit CallFacts(const CommunicationInfo& info)
      : info(info), call(info.call), group(info.group), label(info.label) {}
  CommunicationInfo info;
  std::string call, group, label;
};

/// The hooks of a Python object; hooks that it does not override are not called.
class PythonCommunicationEvent final : public CommunicationEvent {
 public:
  explicit PythonCommunicationEvent(const py::object& self)
      : self_(self),
        before_(overrides(self, "Event", "before_call")),
        after_(overrides(self, "Event", "after_call")),
        complete_(overrides(self, "Event", "call_complete")),
        before_wait_(overrides(self, "Event", "before_wait")),
        after_wait_(overrides(self, "Event", "after_wait")) {}

  [[nodiscard]] bool listens() const {
    return before_ || after_ || complete_ || before_wait_ || after_wait_;
  }
  [[nodiscard]] bool is(const py::object& self) const { return self_.object.is(self); }
  void before_call(const CommunicationInfo& call) override {
    if (before_) tell("before_call", call);
  }
  void after_call(const CommunicationInfo& call) override {
    if (after_) tell("after_call", call);
  }
  void complete(const CommunicationInfo& call) override {
    if (complete_) tell("call_complete", call);
  }
  void before_wait(const CommunicationInfo& call) override {
    if (before_wait_) tell("before_wait", call);
  }
  void after_wait(const CommunicationInfo& call) override {
    if (after_wait_) tell("after_wait", call);
  }

 private:
  void tell(const char* hook, const CommunicationInfo& call) {
    call_python(
        [&] { expect_unread(self_.object.attr(hook)(CallFacts(call)), self_.object, hook); });
  }
  PythonReference self_;
  bool before_, after_, complete_, before_wait_, after_wait_;
};

/// An observer in C++, such as an OverlapRecorder; null for one in Python.
std::shared_ptr<CommunicationEvent> native_event(const Anything& event) {
  if (!py::isinstance<Event>(event)) return nullptr;
  return std::dynamic_pointer_cast<CommunicationEvent>(event.cast<std::shared_ptr<Event>>());
}

void add_communication_event(Communicator& ranks, const Anything& event) {
  if (auto native = native_event(event)) return ranks.events().add(std::move(native));
  expect_object(event);
  auto adapter = std::make_shared<PythonCommunicationEvent>(event);
  if (!adapter->listens()) {
    throw_without_hooks(
        event,
        "the event overrides no hook of a communicator: before_call, after_call, call_complete, "
        "before_wait, after_wait");
  }
  ranks.events().add(std::move(adapter));
}

void remove_communication_event(Communicator& ranks, const Anything& event) {
  if (const auto native = native_event(event)) return ranks.events().remove(native.get());
  for (const auto& known : ranks.events().all()) {
    const auto* adapter = dynamic_cast<const PythonCommunicationEvent*>(known.get());
    if (adapter && adapter->is(event)) return ranks.events().remove(adapter);
  }
}

}  // namespace

void bind_communication_events(py::module_& m, CommunicatorClass& communicator) {
  py::class_<CallFacts>(m, "CommunicationInfo", "One call of a communicator.")
      .def_readonly("call", &CallFacts::call, "\"all_reduce\", \"send\", ...")
      .def_readonly("group", &CallFacts::group, "The communicator's name.")
      .def_readonly("label", &CallFacts::label,
                    "Label of the call's options (Communicator.with_options); \"\" without one.")
      .def_property_readonly(
          "id", [](const CallFacts& f) { return f.info.id; },
          "Number of the call, in the order of calls.")
      .def_property_readonly(
          "rank", [](const CallFacts& f) { return f.info.rank; },
          "This rank in the outermost communicator.")
      .def_property_readonly(
          "peer", [](const CallFacts& f) { return f.info.peer; },
          "The root, or the partner; -1 if there is none.")
      .def_property_readonly(
          "bytes_sent", [](const CallFacts& f) { return f.info.bytes_sent; },
          "Bytes that this rank sends.")
      .def_property_readonly(
          "bytes_received", [](const CallFacts& f) { return f.info.bytes_received; },
          "Bytes that this rank receives.")
      .def_property_readonly(
          "seconds",
          [](const CallFacts& f) {
            return f.info.ended_ns == 0 ? 0.0 : 1e-9 * double(f.info.ended_ns - f.info.asked_ns);
          },
          "Time from the start of the call to its completion; 0 if it is not complete.")
      .def("__repr__", [](const CallFacts& f) {
        return fmt::format("<d5.CommunicationInfo {} of {}: {} bytes sent, {} received>", f.call,
                           f.group, f.info.bytes_sent, f.info.bytes_received);
      });
  communicator
      .def("add_event", &add_communication_event, py::arg("event").none(false),
           "Adds an observer with hooks of d5.Event, such as before_call, for its calls and those "
           "of its groups.")
      .def("remove_event", &remove_communication_event, py::arg("event").none(false),
           "Removes an observer, by identity; an unknown one changes nothing.");
}

}  // namespace d5::python
