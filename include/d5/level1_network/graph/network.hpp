// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5::onnx {
struct LoadOptions;
struct SaveOptions;
struct ModelFile;
}  // namespace d5::onnx

namespace d5 {

/// A trainable tensor of a network: an initializer that gradients are computed for.
struct Parameter {
  std::string name;
  Tensor value;     ///< a slice of the network's parameter arena
  Tensor gradient;  ///< a slice of the gradient arena; written by backpropagation
};

/// Tensors of a file of which it is not plain whether they are parameters.
struct ParameterNotes {
  /// Parameters that Constant nodes held, or graphs that nodes hold.
  std::set<std::string, std::less<>> lifted;
  /// Why tensors that stand in the place of parameters are constants: "a buffer of the module that
  /// was exported".
  std::map<std::string, std::string, std::less<>> constants;
};

/// What one edit takes out of a network and puts into it.
struct Splice {
  /// Tensors. Parameters and constants of these names are taken out, and the nodes that write them,
  /// with all that those write. A name may come back with what is put in.
  std::vector<std::string> remove = {};
  /// In any order. A node without a name is given one, a node without an opset the network's.
  std::vector<onnx::Node> nodes = {};
  std::map<std::string, Tensor> constants = {}, parameters = {};
};

/// A directed acyclic graph of named nodes and tensors, with its parameters.
///
/// Copied by value it is shared; executors and optimizers of the same network see the same values.
/// Built from a file or by code:
///
///     Network network("lenet");
///     network.add_input("image", DType::float32, {"N", 1, 28, 28});
///     network.add_parameter("w", Tensor::zeros(DType::float32, {10, 784}));
///     network.add_node("Flatten", {"image"}, {"x"});
///     network.add_node("Gemm", {"x", "w"}, {"y"}, {{"transB", std::int64_t{1}}});
///     network.add_output("y");
///
/// Parameters and gradients live in two arenas in the order in which backpropagation finishes them
/// (the last layer's first), so that a bucket for communication is a slice.
class Network {
 public:
  explicit Network(std::string name);
  /// Floating-point initializers that some operator of the reference can differentiate, or does not
  /// know, become parameters; the others stay constants (running statistics, scales, bounds). So do
  /// Constants in the place of a weight or a bias, which become initializers; `parameter_notes`
  /// tells them, and what stays constant for what the file says of it (docs/reference/level1.md).
  explicit Network(onnx::Model model);
  /// What a file says besides its model stays with the network, and is saved again.
  /// Throws: as `onnx::load`.
  [[nodiscard]] static Network load(const std::string& path);
  [[nodiscard]] static Network load(const std::string& path, const onnx::LoadOptions& options);
  /// Throws: as `onnx::save`.
  void save(const std::string& path) const;
  void save(const std::string& path, const onnx::SaveOptions& options) const;
  /// The same in memory; `file` names it in messages. Throws: as `onnx::parse`.
  [[nodiscard]] static Network parse(std::span<const std::byte> bytes, const std::string& file);
  [[nodiscard]] std::string serialize() const;
  /// A network of its own, with values of its own.
  [[nodiscard]] Network copy() const;

  // Editing. An edit that throws changes nothing: ValueError for a name that is taken, for what
  // others still need, for a cycle; NotFound for an unknown name, with the nearest. Shapes and
  // types are judged when the network is compiled.
  void add_input(const std::string& name, DType dtype, std::vector<onnx::Dim> dims);
  void add_output(const std::string& name);
  void add_parameter(const std::string& name, Tensor value);
  /// A tensor that is no parameter: shapes, axes, running statistics.
  void add_constant(const std::string& name, Tensor value);
  onnx::Node& add_node(const std::string& op_type, std::vector<std::string> inputs,
                       std::vector<std::string> outputs,
                       std::map<std::string, onnx::Attribute, std::less<>> attributes = {},
                       std::string name = {});
  void remove_node(const std::string& name);
  /// Another node in the place of the one called `name`; it writes what others read of that.
  void replace_node(const std::string& name, onnx::Node node);
  /// Between `tensor`, which `node` reads, and all that read it, who read what `node` writes first.
  void insert_node(const std::string& tensor, onnx::Node node);
  /// Who reads a tensor reads another one instead: nodes, graphs in them, updates. Outputs of the
  /// network stay.
  void redirect(const std::map<std::string, std::string, std::less<>>& tensors);
  /// Gives a tensor another name, wherever it stands.
  void rename(const std::string& tensor, const std::string& name);
  /// Any edit at once: nodes are put where they can run.
  ///
  ///     network.splice({.remove = {"bn.out"}, .nodes = {conv}, .constants = {{"conv.bias", b}}});
  void splice(Splice change);
  /// Another model in the place of this one, for what changes the meaning of nodes and inputs:
  /// their opset, their sizes. Parameters and updates stay, by their names.
  void rewrite(onnx::Model model);
  /// After each run of an executor the constant is overwritten with the tensor `output`, as batch
  /// normalization's running statistics in training. Throws: NotFound, ValueError for a parameter.
  void add_update(const std::string& constant, const std::string& output);

  // Asking.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const onnx::Model& model() const;
  [[nodiscard]] const onnx::Graph& graph() const { return model().graph; }
  [[nodiscard]] const onnx::Node& node(std::string_view name) const;
  /// The node that writes `tensor`; null for an input, a parameter, a constant. Valid until the
  /// next edit. Throws: NotFound.
  [[nodiscard]] const onnx::Node* producer(std::string_view tensor) const;
  /// The nodes that read `tensor`, each once, in order, also where a graph within one does. Valid
  /// until the next edit. Throws: NotFound.
  [[nodiscard]] std::vector<const onnx::Node*> consumers(std::string_view tensor) const;
  /// `stem`, or where a tensor has that name "stem_2", ...
  [[nodiscard]] std::string unused_name(const std::string& stem) const;
  [[nodiscard]] std::vector<std::string> input_names() const;  ///< without initializers
  [[nodiscard]] std::vector<std::string> output_names() const;
  /// Constants and the tensors that they take over after a run.
  [[nodiscard]] const std::map<std::string, std::string>& updates() const;

  // Values.
  /// In the order of the arenas. Laid out on the first call after an edit, when values and
  /// gradients move: tensors taken before no longer belong to the network.
  [[nodiscard]] std::vector<Parameter>& parameters();
  [[nodiscard]] Parameter& parameter(std::string_view name);
  [[nodiscard]] bool is_parameter(std::string_view name) const;
  /// Of the file that it came from; a name in it may be gone by an edit.
  [[nodiscard]] const ParameterNotes& parameter_notes() const;
  /// Moves parameters and gradients to arenas on `device`. Constants stay on the host.
  /// Throws: Unsupported for a device that nobody brought, MemoryError.
  void place(Device device);
  /// Lays them out in memory that the caller makes, called twice with the bytes of an arena, and
  /// copies no values there: what parameters were added with is not read. For memory that holds no
  /// numbers, such as that of simulated ranks. The next edit lays them out as usual.
  void lay_out_in(const std::function<Tensor(std::size_t bytes)>& memory);
  /// All parameters, all gradients, each as one 1-D tensor of the arena (padding is zero).
  /// Throws: TypeError if the parameters are of several types.
  [[nodiscard]] Tensor parameter_arena();
  [[nodiscard]] Tensor gradient_arena();
  /// The value of a parameter or constant, or what another tensor was fed. Throws: NotFound.
  [[nodiscard]] const Tensor& fetch(std::string_view name) const;
  /// Overwrites a parameter or constant; a constant that no update overwrites counts as an edit,
  /// for plans may hold results of it. An input, or what a node writes, keeps `value` for `fetch`
  /// until the next edit: of who computes node by node; executors do not ask.
  /// Throws: NotFound, ShapeError, TypeError.
  void feed(std::string_view name, const Tensor& value);

  /// Counts edits of the graph; an executor compiles again when it changed. Values of parameters do
  /// not count.
  [[nodiscard]] std::uint64_t revision() const;
  /// Counts changes of values, edits, and what may become one: each call of `feed`, and of those
  /// that hand out values to write: `parameters`, `parameter`, `parameter_arena`. An executor that
  /// keeps parameters in another form makes it anew when this has grown.
  [[nodiscard]] std::uint64_t value_changes() const;
  /// For who has written into a parameter's or constant's memory that it had from an earlier call.
  void values_changed();

 private:
  struct State;
  explicit Network(onnx::ModelFile file);
  std::shared_ptr<State> state_;
};

}  // namespace d5
