// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/transform.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include <map>

#include "d5/core/errors/error.hpp"
#include "level1_network/network_transforms.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kTransformHelp =
    R"(Transforms a network into an equivalent one; base class of transforms in Python.

    class WithoutIdentity(d5.Transform):
        def apply(self, network):
            found = [node.name for node in network.nodes if node.op_type == "Identity"]
            for node in map(network.node, found):
                network.redirect({node.outputs[0]: node.inputs[0]})
                network.remove_node(node.name)
            return f"removed {len(found)} Identity" if found else ""

`apply` edits the network and returns what it did in words: "" or None if nothing was changed. The attribute
`keeps` says what stays the same: "gradients" (outputs, and gradients of parameters, but for rounding),
"outputs" (of inference) or "rounded"; `enters_graphs` says whether it is also applied to graphs within
nodes.)";

const std::map<std::string, Keeps>& kept_words() {
  static const std::map<std::string, Keeps> all{
      {"gradients", Keeps::gradients}, {"outputs", Keeps::outputs}, {"rounded", Keeps::rounded}};
  return all;
}

class PythonTransform final : public Transform, public py::trampoline_self_life_support {
 public:
  TransformReport apply(Network& network) const override {
    return call_python([&]() -> TransformReport {
      const py::function method = method_of<Transform>(this, "apply", "apply(network)");
      const py::object told = method(Network(network));
      if (told.is_none()) return {.what = ""};
      if (py::isinstance<py::str>(told)) return {.what = told.cast<std::string>()};
      throw_returned(py::cast(static_cast<const Transform*>(this)), "apply", told,
                     "what it did in words, or None if nothing was changed");
    });
  }
  [[nodiscard]] Keeps keeps() const override {
    const py::gil_scoped_acquire gil;
    const py::object self = py::cast(static_cast<const Transform*>(this));
    if (!py::hasattr(self, "keeps")) return Keeps::gradients;
    const auto word = self.attr("keeps").cast<std::string>();
    const auto found = kept_words().find(word);
    if (found == kept_words().end()) {
      throw_unknown_name("what a transform keeps", word, {"gradients", "outputs", "rounded"});
    }
    return found->second;
  }
  [[nodiscard]] bool enters_graphs() const override {
    const py::gil_scoped_acquire gil;
    return py::getattr(py::cast(static_cast<const Transform*>(this)), "enters_graphs", py::bool_())
        .cast<bool>();
  }
};

}  // namespace

void register_transform(py::module_& m) {
  py::classh<Transform, PythonTransform> transform(m, "Transform", kTransformHelp);
  transform.def(py::init<>())
      .def(
          "apply",
          [](const Transform& self, Network& network) {
            const py::gil_scoped_release released;
            return self.apply(network).what;
          },
          py::arg("network"), "Edits the network; returns what was done, in words.");
  let_derive(transform);
  bind_apply(m);
  add_part_kind<Transform>(transforms(), "Transform");
  m.def(
      "transform",
      [](const std::string& name, const Options& options) {
        return transforms().at(name).make(
            entry_settings(options, "d5.transform", transforms(), name));
      },
      py::arg("name"), "Makes a transform by its name; its options are keywords.");
}

}  // namespace d5::python
