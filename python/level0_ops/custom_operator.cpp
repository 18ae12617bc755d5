// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "answered.hpp"
#include "bindings.hpp"
#include "core/dtype_name.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "errors.hpp"
#include "in_place.hpp"
#include "level0_ops/lent_contexts.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

std::string class_of_operator(const py::object& self) {
  return py::type::of(self).attr("__name__").cast<std::string>();
}

/// Calls a method with a context that is valid during the call.
template <class Context>
py::object call_with(const py::object& self, const char* method, const Context& context) {
  const LeaseScope call("an operator's call");
  return self.attr(method)(py::cast(Lent<const Context>(context, call.lease())));
}

/// Outputs of a call, filled with a byte before it to see which of them it writes.
class MarkedOutputs {
 public:
  explicit MarkedOutputs(const OpContext& context) {
    for (std::size_t i = 0; i < context.output_count(); ++i) {
      if (!context.wants_output(i) || !context.planned_outputs.contains(i)) continue;
      Tensor output = context.output(i);
      const bool has_bytes = output.dtype() != DType::string && output.bytes() > 0;
      if (!has_bytes || output.device() != Device{} || is_input(context, output)) continue;
      outputs_.emplace_back(i, std::move(output));
    }
  }

  void fill(unsigned char byte) {
    for (auto& [place, output] : outputs_) std::memset(output.raw(), byte, output.bytes());
  }
  /// The first output that has this byte alone.
  [[nodiscard]] std::optional<std::size_t> first_filled(unsigned char byte) const {
    for (const auto& [place, output] : outputs_) {
      const auto* bytes = static_cast<const unsigned char*>(output.raw());
      if (std::all_of(bytes, bytes + output.bytes(), [&](auto one) { return one == byte; })) {
        return place;
      }
    }
    return std::nullopt;
  }

 private:
  static bool is_input(const OpContext& context, const Tensor& output) {
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (!context.has_input(i) || !context.input_value(i).is_tensor()) continue;
      if (context.input(i).raw() == output.raw()) return true;
    }
    return false;
  }
  std::vector<std::pair<std::size_t, Tensor>> outputs_;
};

/// Calls forward and backward of a Python object. The first call of forward is watched: a method
/// that binds a name to its result (`y = 2 * x`) would leave what was in memory.
class PythonKernel final : public Kernel {
 public:
  explicit PythonKernel(const py::object& self) : self_(self) {}
  void forward(OpContext& context) override {
    call_python([&] {
      if (!std::exchange(is_watched_, true)) return watched_forward(context);
      call_forward(context);
    });
  }
  void backward(GradContext& context) override {
    call_python([&] {
      expect_in_place(call_with(self_.object, "backward", context),
                      class_of_operator(self_.object) + ".backward()",
                      "context.grad_input(0).numpy()[...] = ...");
    });
  }

 private:
  void call_forward(const OpContext& context) {
    expect_in_place(call_with(self_.object, "forward", context), forward_name(), kInPlace);
  }
  /// Throws: TypeError for an output in which nothing was written.
  void watched_forward(const OpContext& context) {
    MarkedOutputs outputs(context);
    std::optional<std::size_t> unwritten;
    for (const unsigned char byte : {0xA5, 0x5A}) {  // a result may be one of the bytes
      outputs.fill(byte);
      call_forward(context);
      unwritten = outputs.first_filled(byte);
      if (!unwritten) return;
    }
    throw TypeError(fmt::format("{} wrote nothing to output {}; it writes in place: {}",
                                forward_name(), *unwritten, kInPlace));
  }
  [[nodiscard]] std::string forward_name() const {
    return class_of_operator(self_.object) + ".forward()";
  }

  static constexpr const char* kInPlace = "context.output(0).numpy()[...] = ...";
  PythonReference self_;
  bool is_watched_ = false;  ///< forward ran before
};

/// An operator whose methods are those of a Python object: forward, and infer, backward and flop if
/// it has them.
class PythonOperator final : public Operator {
 public:
  PythonOperator(py::object self, bool has_backward)
      : self_(std::move(self)), has_backward_(has_backward) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return call_python([&]() -> std::vector<ValueDesc> {
      if (!overrides(self_.object, "Operator", "infer")) return {context.input(0)};
      using Described = std::vector<std::pair<DTypeName, std::vector<std::int64_t>>>;
      const std::string who = class_of_operator(self_.object) + ".infer()";
      std::vector<ValueDesc> result;
      for (const auto& [dtype, dims] :
           answered<Described>(call_with(self_.object, "infer", context), who,
                               "a list of (type, shape), one an output")) {
        result.emplace_back(TensorDesc{dtype_from_name(dtype.name), Shape(dims)});
      }
      if (result.size() == context.output_count()) return result;
      throw ShapeError(fmt::format("{} gave {} outputs; the node has {}", who, result.size(),
                                   context.output_count()));
    });
  }
  Places gradients() const override { return has_backward_ ? Places::all() : Places(); }
  Cost cost(const InferContext& context) const override {
    return call_python([&] {
      if (!overrides(self_.object, "Operator", "flop")) return bytes_only(context);
      return with_flop(context,
                       answered<double>(call_with(self_.object, "flop", context),
                                        class_of_operator(self_.object) + ".flop()", "a number"));
    });
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    const py::gil_scoped_acquire gil;
    return std::make_unique<PythonKernel>(self_.object);
  }

 private:
  PythonReference self_;
  bool has_backward_;
};

/// Registered again, as by a notebook's cell, the new class replaces the former one.
void register_operator(const Anything& type, const std::string& name, const std::string& domain,
                       int since) {
  const py::object inherited = py::module_::import("d5").attr("Operator").attr("backward");
  const py::object own = py::getattr(type, "backward", inherited);
  const bool has_backward = !own.is(inherited);
  const auto held = std::make_shared<PythonReference>(type);
  const auto make = [held, has_backward](const onnx::Node& node) {
    return call_python([&] {
      py::object self = py::module_::import("d5._operator_attributes")
                            .attr("made_for_node")(held->object, py::cast(node).attr("attributes"));
      return std::make_unique<PythonOperator>(std::move(self), has_backward);
    });
  };
  add_custom_operator(name, {.since = since, .domain = domain}, make, IfTaken::replace);
}

}  // namespace

void bind_custom_operators(py::module_& m) {
  m.def("register_operator", &register_operator, py::arg("type"), py::arg("name"),
        py::arg("domain") = "", py::arg("since") = 1,
        "Registers a class with infer, forward and backward as a custom operator.");
  m.def(
      "compile_operators",
      [](const std::string& source, const py::args& definitions) {
        std::map<std::string, std::string> macros;
        for (const auto& word : definitions) {
          const auto text = word.cast<std::string>();
          const std::size_t equals = std::min(text.find('='), text.size());
          macros[text.substr(0, equals)] = text.substr(std::min(equals + 1, text.size()));
        }
        std::string library;
        long_call([&](const Interrupt&) { library = build_operators(source, "", macros); });
        return load_custom_operators(library, IfTaken::replace);
      },
      py::arg("source"),
      "Compiles operators against d5/abi.h, with macros as NAME=VALUE, registers them, and returns "
      "their names.");
  m.def("load_extension", &load_extension, py::arg("path"),
        "Loads a library of operators, a plug-in or a Python file; returns what it was.");
  add_extension_loader(".py", [](const std::string& path) {
    const py::gil_scoped_acquire gil;
    try {
      return call_python([&] {
        return py::module_::import("d5._loading").attr("load_file")(path).cast<std::string>();
      });
    } catch (py::error_already_set& raised) {
      throw_as_d5(raised, printable(path));
    }
  });
  m.def("custom_op_from_native", &custom_op_from_native, py::arg("framework"), py::arg("function"),
        "Registers a framework's own function, such as aten::silu, as a custom operator; returns "
        "its name.");
}

}  // namespace d5::python
