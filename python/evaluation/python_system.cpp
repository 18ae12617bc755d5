// SPDX-License-Identifier: Apache-2.0
#include "evaluation/python_system.hpp"

#include <cstddef>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "errors.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// The bytes of an answer: of bytes and text their own, of arrays their elements'.
std::vector<std::byte> bytes_of_answer(const py::object& answer) {
  std::string text;
  if (py::isinstance<py::bytes>(answer) || py::isinstance<py::str>(answer)) {
    text = answer.cast<std::string>();
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  const Tensor tensor = to_tensor(answer);
  if (tensor.dtype() == DType::string) {
    throw TypeError("an answer is an array of texts, expected bytes, a text or numbers");
  }
  const auto* data = static_cast<const std::byte*>(tensor.raw());
  return {data, data + tensor.bytes()};
}

}  // namespace

void PythonSystem::issue(std::span<const Query> queries) {
  for (const Query& query : queries) {
    const std::int64_t begun = Trace::now_ns();
    std::vector<std::byte> bytes;
    const std::string fault = call_python([&]() -> std::string {
      try {
        const py::object said = answer_.object(query.sample);
        if (answers_ == Answers::kept) bytes = bytes_of_answer(said);
        return {};
      } catch (py::error_already_set& raised) {
        if (!raised.matches(PyExc_Exception)) throw;
        return RaisedInPython(raised).what();
      } catch (const Error& error) {  // the result is no valid answer
        return error.what();
      }
    });
    complete({{.id = query.id,
               .begun = begun,
               .status = fault.empty() ? Status::passed : Status::failed,
               .reason = fault,
               .bytes = bytes}});
  }
}

std::vector<Measurement> records_of(ScenarioResult result, const std::string& name) {
  for (Measurement& row : result.measurements) {
    row.subject = name;
    row.level = "evaluation";
    row.framework = "python";
    if (result.status == Status::failed) {
      row.status = Status::failed;
      row.reason = result.reason;
    } else if (result.status != Status::passed) {
      mistrust(row, result.reason);
    }
  }
  return std::move(result.measurements);
}

}  // namespace d5::python
