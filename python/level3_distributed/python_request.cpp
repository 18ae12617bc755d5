// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/python_request.hpp"

#include <fmt/format.h>

#include <map>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

class DoneRequest final : public Request {
 public:
  void wait() override {}
  [[nodiscard]] bool done() override { return true; }
};

/// Waits as the Python object does.
class PythonRequest final : public Request {
 public:
  explicit PythonRequest(const py::object& call) : call_(call) {}
  ~PythonRequest() override {
    if (done_ || std::uncaught_exceptions() > 0) return;
    try {
      wait();
    } catch (const std::exception&) {
      // A caller that needs the result has waited.
    }
  }
  void wait() override {
    if (done_) return;
    call_python([&] { call_.object.attr("wait")(); });
    done_ = true;
  }
  [[nodiscard]] bool done() override {
    if (!done_) done_ = call_python([&] { return call_.object.attr("done")().cast<bool>(); });
    return done_;
  }

 private:
  PythonReference call_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Request> request_of(const py::object& given, const std::string& who) {
  if (given.is_none()) return std::make_unique<DoneRequest>();
  if (py::hasattr(given, "wait") && py::hasattr(given, "done")) {
    return std::make_unique<PythonRequest>(given);
  }
  throw TypeError(
      fmt::format("{} returned {}; expected None if it is done, or else an object with wait() and "
                  "done(), such as start_all_reduce returns",
                  who, shown(given)));
}

Reduction reduction_of(const std::string& name) {
  static const std::map<std::string, Reduction> known{
      {"sum", Reduction::sum}, {"maximum", Reduction::maximum}, {"minimum", Reduction::minimum}};
  const auto found = known.find(name);
  if (found == known.end()) throw_unknown_name("reduction", name, {"sum", "maximum", "minimum"});
  return found->second;
}

std::string reduction_word(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "sum";
    case Reduction::maximum:
      return "maximum";
    case Reduction::minimum:
      return "minimum";
  }
  return "sum";
}

}  // namespace d5::python
