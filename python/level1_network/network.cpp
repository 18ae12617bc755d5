// SPDX-License-Identifier: Apache-2.0
#include "level1_network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "core/dtype_name.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/onnx/file.hpp"
#include "declared_keywords.hpp"
#include "level1_network/network_items.hpp"
#include "level1_network/network_transforms.hpp"
#include "long_call.hpp"

namespace d5::python {
std::string describe(const Network& network) {
  std::size_t parameters = 0;
  std::int64_t elements = 0;
  for (const auto& [name, value] : network.graph().initializers) {
    if (!network.is_parameter(name)) continue;
    ++parameters;
    elements += value.elements();
  }
  std::vector<std::string> inputs, outputs;
  for (const auto& input : network.graph().inputs) {
    if (network.graph().initializers.contains(input.name)) continue;
    inputs.push_back(printable(input.name) + " " + onnx::to_string(input.type));
  }
  for (const auto& name : network.output_names()) outputs.push_back(printable(name));
  return fmt::format("<d5.Network {}: {} nodes, {} parameters of {} elements, {} -> {}>",
                     printable(network.name()), network.graph().nodes.size(), parameters, elements,
                     fmt::join(inputs, ", "), fmt::join(outputs, ", "));
}

namespace {

Network load(const Path& path) {
  std::optional<Network> network;
  long_call([&](const Interrupt& interrupt) {
    network.emplace(Network::load(path.string(), {.interrupt = interrupt}));
  });
  return *network;
}

Network model(const Path& name, const Options& options) {
  const std::string word = name.string();
  const Settings settings = entry_settings(options, "d5.model", models(), word);
  std::optional<Network> network;
  long_call([&](const Interrupt& interrupt) {
    // For a plain unknown word, without dot, slash or space, the error suggests the nearest name.
    const bool is_name = !is_network(word) && word.find_first_of("./ ") == std::string::npos;
    if (models().find(word) || is_name) {
      network.emplace(models().at(word).make(settings));
    } else {
      OptionList(Settings(settings).owned_by("model " + word)).expect_all_known();
      network.emplace(open_model(word, {}, {}, interrupt));
    }
  });
  return *network;
}

using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

/// Keywords as the attributes of a node. Throws: TypeError that names the one that ONNX cannot
/// hold.
Attributes to_attributes(const std::string& op_type, const std::string& node,
                         const Options& keywords) {
  Attributes attributes;
  for (const auto& [key, value] : keywords) {
    const auto name = key.cast<std::string>();
    try {
      attributes[name] = to_attribute(value);
      continue;
    } catch (const Error&) {
    } catch (const py::cast_error&) {
    }
    throw TypeError(fmt::format(
        "{}{}: attribute '{}' is {}, expected an integer of 64 bits, a number, a text, a list of "
        "these, or an array{}",
        printable(op_type), node.empty() ? "" : fmt::format(" '{}'", printable(node)),
        printable(name), shown(value), value.is_none() ? "; leave it out for ONNX's default" : ""));
  }
  return attributes;
}

onnx::Node node(const std::string& op_type, std::vector<std::string> inputs,
                std::vector<std::string> outputs, const std::string& name,
                const std::string& domain, const Options& attributes) {
  onnx::Node result;
  result.name = name;
  result.op_type = op_type;
  result.domain = domain;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.attributes = to_attributes(op_type, name, attributes);
  return result;
}

NetworkSummary summary_of(const Network& network, std::int64_t batch, const Options& dims) {
  OpenSizes sizes{.batch = batch};
  for (const auto& [name, size] : dims) {
    sizes.by_name[name.cast<std::string>()] = size.cast<std::int64_t>();
  }
  const py::gil_scoped_release release;
  return summarise(network, sizes);
}

/// The result of an operator such as += may be in place already.
void write(Tensor& into, const Anything& value) {
  const Tensor from = to_tensor(value);
  if (from.raw() != into.raw()) into.copy_from(from);
}

/// Equal for what is one parameter of one network; two parameters may share memory.
std::pair<std::string, std::uintptr_t> identity_of(const Parameter& parameter) {
  return {parameter.name, reinterpret_cast<std::uintptr_t>(parameter.value.raw())};
}

/// The notes on tensors that are in the network.
ParameterNotes present_notes(const Network& network) {
  ParameterNotes notes = network.parameter_notes();
  const auto& values = network.graph().initializers;
  std::erase_if(notes.lifted, [&](const auto& name) { return !network.is_parameter(name); });
  std::erase_if(notes.constants, [&](const auto& note) {
    return !values.contains(note.first) || network.is_parameter(note.first);
  });
  return notes;
}

void bind_transforms(py::module_& m) {
  py::class_<AppliedTransform>(m, "AppliedTransform", "The effect of a transform on a network.")
      .def_readonly("transform", &AppliedTransform::transform,
                    "Name and settings of the transform.")
      .def_readonly("nodes_before", &AppliedTransform::nodes_before,
                    "Number of nodes before the transform.")
      .def_readonly("nodes_after", &AppliedTransform::nodes_after, "Number of nodes after it.")
      .def_property_readonly(
          "what", [](const AppliedTransform& a) { return a.report.what; },
          "What was changed, in words; empty if nothing was.")
      .def_property_readonly(
          "left", [](const AppliedTransform& a) { return a.report.left; },
          "Candidates that it left unchanged, each with the reason.")
      .def("__repr__", [](const AppliedTransform& a) {
        return fmt::format("<d5.AppliedTransform {}: {}>", a.transform,
                           a.report.what.empty() ? "nothing to change" : a.report.what);
      });
  m.def("transforms", &names_of_transforms);
}

}  // namespace

void bind_network(py::module_& m) {
  bind_transforms(m);
  py::class_<Parameter>(m, "Parameter", "A trainable tensor; value and gradient are shared memory.")
      .def_readonly("name", &Parameter::name, "Name of the tensor.")
      .def_property(
          "value", [](const Parameter& p) { return p.value; },
          [](Parameter& p, const Anything& value) { write(p.value, value); },
          "Assignment overwrites its elements.")
      .def_property(
          "gradient", [](const Parameter& p) { return p.gradient; },
          [](Parameter& p, const Anything& value) { write(p.gradient, value); },
          "Assignment overwrites its elements.")
      .def(
          "__eq__",
          [](const Parameter& p, const Parameter& other) {
            return identity_of(p) == identity_of(other);
          },
          py::is_operator())
      .def("__hash__", [](const Parameter& p) { return py::hash(py::cast(identity_of(p))); })
      .def("__repr__", [](const Parameter& p) {
        return fmt::format("<d5.Parameter {} {}>", p.name, to_string(p.value.desc()));
      });

  py::class_<ParameterNotes>(m, "ParameterNotes",
                             "What a network says about tensors in the place of parameters.")
      .def_property_readonly(
          "lifted",
          [](const ParameterNotes& n) {
            return std::vector<std::string>(n.lifted.begin(), n.lifted.end());
          },
          "Names of parameters that the file had as Constants.")
      .def_property_readonly(
          "constants",
          [](const ParameterNotes& n) {
            return std::map<std::string, std::string>(n.constants.begin(), n.constants.end());
          },
          "Names of constants in the place of parameters, each with the reason.")
      .def("__repr__", [](const ParameterNotes& n) {
        return fmt::format("<d5.ParameterNotes {} lifted, {} constant>", n.lifted.size(),
                           n.constants.size());
      });

  bind_network_items(m);
  py::class_<Network>(m, "Network", "A directed acyclic graph of operators and its parameters.")
      .def(py::init<std::string>(), py::arg("name"))
      .def_static("load", &load, py::arg("path"), "Loads and validates an ONNX file.")
      .def(
          "save",
          [](const Network& n, const Path& path, bool external_data) {
            n.save(path.string(), {.external_data = external_data});
          },
          py::arg("path"), py::kw_only(), py::arg("external_data") = false,
          py::call_guard<py::gil_scoped_release>(),
          "Writes an ONNX file. With `external_data`, and above protobuf's limit of 2 GB, the "
          "weights go to a second file beside it, PATH.data.")
      .def(
          "add_input",
          [](Network& n, const std::string& name, const DTypeName& dtype,
             std::vector<onnx::Dim> shape) {
            for (const auto& dim : shape) {
              const auto* size = std::get_if<std::int64_t>(&dim);
              if (size == nullptr || *size >= 0) continue;
              throw ValueError(fmt::format(
                  "d5.Network.add_input: input '{}' has a dimension of {}; expected 0 or more, or "
                  "a name for an open one, such as \"N\"",
                  printable(name), *size));
            }
            n.add_input(name, dtype_from_name(dtype.name), std::move(shape));
          },
          py::arg("name"), py::arg("dtype"), py::arg("shape"),
          "Adds an input. `dtype`: text, or NumPy's or torch's type. `shape`: numbers, names of "
          "symbolic dimensions, or None.")
      .def("add_output", &Network::add_output, py::arg("name"),
           "Makes a tensor of the network an output. Raises NotFound for an unknown tensor, "
           "ValueError for one that is an output already.")
      .def(
          "add_parameter",
          [](Network& n, const std::string& name, const Anything& value) {
            n.add_parameter(name, to_writable_tensor(value));
          },
          py::arg("name"), py::arg("value"),
          "Adds a trainable tensor with its initial value. Raises ValueError for a name that is "
          "taken, TypeError for a type that cannot be trained.")
      .def(
          "add_constant",
          [](Network& n, const std::string& name, const Anything& value) {
            n.add_constant(name, to_writable_tensor(value));
          },
          py::arg("name"), py::arg("value"),
          "Adds a tensor that is not trained, such as axes or running statistics. Raises "
          "ValueError for a name that is taken.")
      .def(
          "add_node",
          [](Network& n, const std::string& op_type, std::vector<std::string> inputs,
             std::vector<std::string> outputs, const std::string& name, const std::string& domain,
             const Options& attributes) {
            onnx::Node& node = n.add_node(op_type, std::move(inputs), std::move(outputs),
                                          to_attributes(op_type, name, attributes), name);
            if (!domain.empty()) node.domain = domain;
          },
          py::arg("op_type"), py::arg("inputs"), py::arg("outputs"), py::kw_only(),
          py::arg("name") = "", py::arg("domain") = "",
          "Adds a node; further keywords are its attributes.")
      .def("remove_node", &Network::remove_node, py::arg("name"),
           "Removes a node and the tensors that it writes. Raises NotFound for an unknown name, "
           "ValueError while another node reads its outputs.")
      .def(
          "replace_node",
          [](Network& n, const std::string& replaced, const std::string& op_type,
             std::vector<std::string> inputs, std::vector<std::string> outputs,
             const std::string& name, const std::string& domain, const Options& attributes) {
            n.replace_node(replaced, node(op_type, std::move(inputs), std::move(outputs), name,
                                          domain, attributes));
          },
          py::arg("replaced"), py::arg("op_type"), py::arg("inputs"), py::arg("outputs"),
          py::kw_only(), py::arg("name") = "", py::arg("domain") = "",
          "Replaces the node called `replaced` by another one.")
      .def(
          "insert_node",
          [](Network& n, const std::string& tensor, const std::string& op_type,
             std::vector<std::string> inputs, std::vector<std::string> outputs,
             const std::string& name, const std::string& domain, const Options& attributes) {
            n.insert_node(tensor, node(op_type, std::move(inputs), std::move(outputs), name, domain,
                                       attributes));
          },
          py::arg("tensor"), py::arg("op_type"), py::arg("inputs"), py::arg("outputs"),
          py::kw_only(), py::arg("name") = "", py::arg("domain") = "",
          "Inserts a node between `tensor` and all of its readers.")
      .def("redirect", &Network::redirect, py::arg("tensors"),
           "Makes the readers of each key read the tensor that is its value.")
      .def("rename", &Network::rename, py::arg("tensor"), py::arg("name"),
           "Renames a tensor everywhere. Raises NotFound for an unknown tensor, ValueError for a "
           "name that is taken.")
      .def_property_readonly("name", &Network::name, "Name of the network.")
      .def_property_readonly(
          "nodes", [](const Network& n) { return NetworkNodes{n}; },
          "A view of the nodes, by index or name.")
      .def(
          "node", [](const Network& n, const std::string& name) { return n.node(name); },
          py::arg("name"), "The node of that name.")
      .def(
          "producer",
          [](const Network& n, const std::string& tensor) -> std::optional<onnx::Node> {
            const onnx::Node* node = n.producer(tensor);
            return node ? std::optional(*node) : std::nullopt;
          },
          py::arg("tensor"),
          "The node that writes a tensor; None for an input, a parameter or a constant.")
      .def(
          "consumers",
          [](const Network& n, const std::string& tensor) {
            std::vector<onnx::Node> nodes;
            for (const auto* node : n.consumers(tensor)) nodes.push_back(*node);
            return nodes;
          },
          py::arg("tensor"), "The nodes that read a tensor, also those in graphs within nodes.")
      .def("summarise", &summary_of, py::arg("batch") = 1,
           "FLOP, bytes, parameters and shapes of each node, layer and operator, computed without "
           "a run: network.summarise(batch=64, T=35).")
      .def_property_readonly("input_names", &Network::input_names,
                             "Names of the inputs in order, without parameters and constants.")
      .def_property_readonly("output_names", &Network::output_names,
                             "Names of the outputs in order.")
      .def_property_readonly(
          "parameters", [](const Network& n) { return NetworkParameters{n}; },
          "A view of them, by index or name, in the order in which backpropagation finishes their "
          "gradients.")
      .def_property_readonly("parameter_notes", &present_notes,
                             "Why tensors are parameters, or are not, such as frozen ones.")
      .def(
          "fetch",
          [](Network& n, const std::string& name) {
            n.values_changed();  // the caller may write the memory
            return n.fetch(name);
          },
          py::arg("name"),
          "Value of a parameter or constant, or what was fed for another tensor, sharing its "
          "memory.")
      .def(
          "feed",
          [](Network& n, const std::string& name, const Anything& value) {
            n.feed(name, to_writable_tensor(value));
          },
          py::arg("name"), py::arg("value"),
          "Overwrites a parameter or constant. For an input or a node's output, keeps the array "
          "for fetch, as a visitor that computes node by node needs it.")
      .def("values_changed", &Network::values_changed,
           "Call after writing to memory of parameters or constants that was fetched before: "
           "executors may keep them in another form.")
      .def("__deepcopy__", [](const Network& n, const Anything&) { return n.copy(); })
      .def(py::pickle([](const Network& n) { return py::bytes(n.serialize()); },
                      [](const py::bytes& state) {
                        const std::string_view bytes = state;
                        return Network::parse(std::as_bytes(std::span(bytes)), "pickle");
                      }))
      .def("__repr__", &describe);
  bind_network_picture();

  m.def("model", &model, py::arg("name"),
        "Opens a built-in network with seeded random weights, such as model(\"lenet\", seed=1, "
        "with_loss=True), an .onnx file, or any other MODEL of the program, as open_model does.");
  m.def("models", [] { return models().names(); });
  m.def(
      "random_inputs",
      [](const Network& network, std::int64_t batch,
         const std::map<std::string, std::int64_t>& dims, std::uint64_t seed) {
        return from_values(random_inputs(network, {.batch = batch, .by_name = dims}, seed));
      },
      py::arg("network"), py::kw_only(), py::arg("batch") = 1,
      py::arg("dims") = std::map<std::string, std::int64_t>(), py::arg("seed") = 0,
      "Draws inputs by name: normal reals, and integers from [0, 10), in a range that is valid for "
      "the network. Equal names, shapes and seeds give equal inputs. `dims` are sizes of open "
      "dimensions by name, `batch` the size of all others.");
}

}  // namespace d5::python
