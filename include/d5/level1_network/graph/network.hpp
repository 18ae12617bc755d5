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

/// Notes on tensors of a file that could be taken for parameters or constants.
struct ParameterNotes {
  /// Parameters that came from Constant nodes, or from graphs that nodes hold.
  std::set<std::string, std::less<>> lifted;
  /// Reasons why tensors in the place of parameters are constants: "a buffer of the module that was
  /// exported".
  std::map<std::string, std::string, std::less<>> constants;
};

/// One edit: what to remove from a network and what to add.
struct Splice {
  /// Tensors to remove: parameters and constants of these names, and nodes that write them, with
  /// all other outputs of these nodes. What is added may use a removed name again.
  std::vector<std::string> remove = {};
  /// Nodes in any order. A node without a name is given one; a node without an opset gets the
  /// network's.
  std::vector<onnx::Node> nodes = {};
  std::map<std::string, Tensor> constants = {}, parameters = {};
};

/// A directed acyclic graph of named nodes and tensors, with its parameters.
///
/// A copy shares the network: executors and optimizers of the same network see the same values. It
/// is built from a file or by code:
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
  /// Floating-point initializers become parameters if an operator that reads them has a gradient in
  /// the reference, or is unknown to it; the others stay constants (running statistics, scales,
  /// bounds). Constant nodes in the place of a weight or a bias become parameters as well.
  /// `parameter_notes` lists them, and the tensors that stay constant because the file says so
  /// (docs/reference/level1.md).
  explicit Network(onnx::Model model);
  /// Loads a file. Contents besides its model stay with the network and are saved again. Throws: as
  /// `onnx::load`.
  [[nodiscard]] static Network load(const std::string& path);
  [[nodiscard]] static Network load(const std::string& path, const onnx::LoadOptions& options);
  /// Throws: as `onnx::save`.
  void save(const std::string& path) const;
  void save(const std::string& path, const onnx::SaveOptions& options) const;
  /// Reads a model in memory; `file` names it in messages. Throws: as `onnx::parse`.
  [[nodiscard]] static Network parse(std::span<const std::byte> bytes, const std::string& file);
  [[nodiscard]] std::string serialize() const;
  /// A deep copy: an independent network with its own values.
  [[nodiscard]] Network copy() const;

  // Editing. An edit that throws changes nothing. It throws ValueError for a name that is taken,
  // for a removal of something still in use, and for a cycle; NotFound for an unknown name, with
  // the nearest. Shapes and types are checked when the network is compiled.
  void add_input(const std::string& name, DType dtype, std::vector<onnx::Dim> dims);
  void add_output(const std::string& name);
  void add_parameter(const std::string& name, Tensor value);
  /// Adds a tensor that is not trained: shapes, axes, running statistics.
  void add_constant(const std::string& name, Tensor value);
  onnx::Node& add_node(const std::string& op_type, std::vector<std::string> inputs,
                       std::vector<std::string> outputs,
                       std::map<std::string, onnx::Attribute, std::less<>> attributes = {},
                       std::string name = {});
  void remove_node(const std::string& name);
  /// Replaces the node called `name`; the new node must write every output that is still read.
  void replace_node(const std::string& name, onnx::Node node);
  /// Inserts a node that reads `tensor`; all readers of `tensor` read the node's first output
  /// instead.
  void insert_node(const std::string& tensor, onnx::Node node);
  /// Makes all readers of a tensor (nodes, graphs in them, updates) read another one. Outputs of
  /// the network stay.
  void redirect(const std::map<std::string, std::string, std::less<>>& tensors);
  /// Renames a tensor everywhere.
  void rename(const std::string& tensor, const std::string& name);
  /// Any edit in one step; the nodes are sorted topologically.
  ///
  ///     network.splice({.remove = {"bn.out"}, .nodes = {conv}, .constants = {{"conv.bias", b}}});
  void splice(Splice change);
  /// Replaces the model, for changes to the meaning of nodes and inputs, such as their opset or
  /// sizes. Parameters and updates stay, by name.
  void rewrite(onnx::Model model);
  /// Overwrites the constant with the tensor `output` after each run of an executor, as for batch
  /// normalization's running statistics in training. Throws: NotFound; ValueError for a parameter.
  void add_update(const std::string& constant, const std::string& output);

  // Queries.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const onnx::Model& model() const;
  [[nodiscard]] const onnx::Graph& graph() const { return model().graph; }
  [[nodiscard]] const onnx::Node& node(std::string_view name) const;
  /// The node that writes `tensor`; null for an input, a parameter or a constant. Valid until the
  /// next edit. Throws: NotFound.
  [[nodiscard]] const onnx::Node* producer(std::string_view tensor) const;
  /// The nodes that read `tensor`, also from within their graphs; each once, in order. Valid until
  /// the next edit. Throws: NotFound.
  [[nodiscard]] std::vector<const onnx::Node*> consumers(std::string_view tensor) const;
  /// `stem` if no tensor has that name, otherwise "stem_2", ...
  [[nodiscard]] std::string unused_name(const std::string& stem) const;
  [[nodiscard]] std::vector<std::string> input_names() const;  ///< initializers excluded
  [[nodiscard]] std::vector<std::string> output_names() const;
  /// Constants, each with the tensor that overwrites it after a run.
  [[nodiscard]] const std::map<std::string, std::string>& updates() const;

  // Values.
  /// Parameters in the order of the arenas. The first call after an edit lays the arenas out again:
  /// it moves values and gradients, and tensors taken before no longer belong to the network.
  [[nodiscard]] std::vector<Parameter>& parameters();
  [[nodiscard]] Parameter& parameter(std::string_view name);
  [[nodiscard]] bool is_parameter(std::string_view name) const;
  /// Notes on the file that the network came from; an edit may have removed some of the names.
  [[nodiscard]] const ParameterNotes& parameter_notes() const;
  /// Moves parameters and gradients to arenas on `device`. Constants stay on the host.
  /// Throws: Unsupported for a device that no framework provides; MemoryError.
  void place(Device device);
  /// Lays the arenas out in memory of the caller; `memory` is called twice, with the bytes of an
  /// arena. No values are copied: the initial values of parameters are not read. For memory without
  /// contents, such as that of simulated ranks. The next edit lays the arenas out as usual.
  void lay_out_in(const std::function<Tensor(std::size_t bytes)>& memory);
  /// All parameters or all gradients as one 1-D tensor of the arena (padding is zero). Throws:
  /// TypeError if the parameters are of several types.
  [[nodiscard]] Tensor parameter_arena();
  [[nodiscard]] Tensor gradient_arena();
  /// Value of a parameter or constant, or the value given to `feed`. Throws: NotFound.
  [[nodiscard]] const Tensor& fetch(std::string_view name) const;
  /// Overwrites a parameter or constant. A constant that no update overwrites counts as an edit,
  /// because plans may contain folded results. A value for an input or a node's output is kept for
  /// `fetch` until the next edit; it is for callers that compute node by node, and executors ignore
  /// it. Throws: NotFound, ShapeError, TypeError.
  void feed(std::string_view name, const Tensor& value);

  /// Number of edits of the graph; an executor compiles again if it has changed. Changes of
  /// parameters' values do not count.
  [[nodiscard]] std::uint64_t revision() const;
  /// Number of edits and of possible changes of values: each call of `feed`, and of functions that
  /// return writable values (`parameters`, `parameter`, `parameter_arena`). An executor that keeps
  /// parameters in another form converts them again if it has grown.
  [[nodiscard]] std::uint64_t value_changes() const;
  /// Call it after writing to a parameter's or constant's memory through a tensor from an earlier
  /// call.
  void values_changed();

 private:
  struct State;
  explicit Network(onnx::ModelFile file);
  std::shared_ptr<State> state_;
};

}  // namespace d5
