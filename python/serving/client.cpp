// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/serving/client/serving_client.hpp"
#include "long_call.hpp"
#include "serving/serving.hpp"

namespace d5::python {
namespace {

/// A client for one call, which Ctrl-C ends.
template <class Call>
auto asked(const ServingClient& client, const Call& call) {
  decltype(call(std::declval<ServingClient&>())) answer{};
  long_call([&](const Interrupt& interrupt) {
    ServingClient own = client.with(interrupt);
    answer = call(own);
  });
  return answer;
}

}  // namespace

void bind_client(py::module_& m) {
  py::class_<ServingClient>(m, "_ServingClient",
                            "Sends requests to a server; d5.Client reads its answers.")
      .def(py::init([](const std::string& address, const std::string& token,
                       const std::string& certificates) {
             return ServingClient(address, {.token = token, .certificates = certificates});
           }),
           py::arg("address"), py::arg("token"), py::arg("certificates"))
      .def("send",
           [](const ServingClient& client, const std::string& method, const std::string& path,
              const std::string& body) {
             return asked(client, [&](ServingClient& own) { return own.send(method, path, body); });
           })
      .def("follow",
           [](const ServingClient& client, const std::string& job,
              const std::function<void(const std::string&)>& hear) {
             long_call([&](const Interrupt& interrupt) {
               client.with(interrupt).follow_text(
                   job, [&](const std::string& event) { call_python([&] { hear(event); }); });
             });
           })
      .def("results", [](const ServingClient& client, const std::string& run) {
        return Measurements(
            asked(client, [&](ServingClient& own) { return own.results(run); }).measurements);
      });
}

}  // namespace d5::python
