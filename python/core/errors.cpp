// SPDX-License-Identifier: Apache-2.0
// Translates d5's errors to Python exceptions, and back.
#include "errors.hpp"

#include <fmt/format.h>

#include <sstream>

#include <exception>

#include "d5/core/entries/unknown_option.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

/// A class of d5.errors and its C++ class. Bases come first: the last match is the most specific.
struct ErrorClass {
  const char* name;
  void (*translate)(std::exception_ptr thrown);
  void (*throw_nested)(const std::string& message);  // within a handler
};

py::handle python_class(const char* name) {
  return py::object(py::module_::import("d5.errors").attr(name)).release();
}

/// E as a Python exception, with the nested Python exception, if there is one, as its cause.
template <class E>
void set_python_error(const py::handle& type, const E& error) {
  if (const auto* outer = dynamic_cast<const std::nested_exception*>(&error)) {
    try {
      outer->rethrow_nested();
    } catch (py::error_already_set& cause) {
      cause.restore();
      py::raise_from(type.ptr(), error.what());
      return;
    } catch (...) {
    }
  }
  py::set_error(type, error.what());
}

template <class E>
ErrorClass error_class(const char* name) {
  static py::handle type;
  type = python_class(name);
  return {name,
          [](std::exception_ptr thrown) {
            try {
              std::rethrow_exception(thrown);
            } catch (const E& error) {
              set_python_error(type, error);
            }
          },
          [](const std::string& message) { std::throw_with_nested(E(message)); }};
}

const std::vector<ErrorClass>& error_classes() {
  static const std::vector<ErrorClass> all = {
      error_class<Error>("Error"),
      error_class<ShapeError>("ShapeError"),
      error_class<TypeError>("TypeError"),
      error_class<ValueError>("ValueError"),
      error_class<NotFound>("NotFound"),
      error_class<UnknownOption>("UnknownOption"),
      error_class<Unsupported>("Unsupported"),
      error_class<IoError>("IoError"),
      error_class<FormatError>("FormatError"),
      error_class<MemoryError>("MemoryError"),
      error_class<NumericError>("NumericError"),
      error_class<CommunicationError>("CommunicationError"),
  };
  return all;
}

std::string text(const py::handle& object) { return py::str(object); }

/// Source line that raised the exception: "mine.py:12"; empty if no Python code raised it.
std::string place_of(const py::error_already_set& raised) {
  py::object trace = raised.trace();
  if (!trace || trace.is_none()) return "";
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const auto file = py::module_::import("os.path").attr("basename")(
      trace.attr("tb_frame").attr("f_code").attr("co_filename"));
  return fmt::format(" ({}:{})", text(file), text(trace.attr("tb_lineno")));
}

/// Shortens a message to what fits rows of tables and lines of logs.
std::string in_one_line(const std::string& message) {
  std::istringstream lines(message);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    result += (result.empty() ? "" : " / ") + line.substr(begin);
  }
  return result;
}

bool in_program = false;

/// For a callback's result of a wrong type that no caller has named.
void translate_cast(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const py::cast_error& error) {
    const std::string message = error.what();
    static const py::handle type = python_class("TypeError");
    py::set_error(
        type, ("a callback's answer: " + message.substr(0, message.find(" to C++ type"))).c_str());
  }
}

}  // namespace

void serve_program() { in_program = true; }
bool serves_program() { return in_program; }

void bind_errors() {
  py::register_exception_translator(&translate_cast);
  for (ErrorClass one : error_classes()) {
    py::register_exception_translator(std::move(one.translate));  // asked in reverse order
  }
}

RaisedInPython::RaisedInPython(const py::error_already_set& raised)
    : py::error_already_set(raised),
      line_(printable_message(fmt::format("{}: {}{}", text(raised.type().attr("__name__")),
                                          in_one_line(text(raised.value())), place_of(raised)))) {}

void throw_as_d5(py::error_already_set& raised, const std::string& who) {
  if (!raised.matches(PyExc_Exception)) throw;
  const ErrorClass* meant = nullptr;
  for (const ErrorClass& one : error_classes()) {
    if (raised.matches(py::module_::import("d5.errors").attr(one.name))) meant = &one;
  }
  std::string message = fmt::format("{}: ", who);
  if (!meant) message += text(raised.type().attr("__name__")) + ": ";
  message += in_one_line(text(raised.value())) + (meant ? "" : place_of(raised));
  (meant ? meant : &error_classes().front())->throw_nested(printable_message(message));
  throw;  // not reached
}

}  // namespace d5::python
