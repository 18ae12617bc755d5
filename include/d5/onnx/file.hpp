// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// The newest opset and IR version that d5 supports.
inline constexpr int kNewestOpset = 28;
inline constexpr int kNewestIrVersion = 14;

/// Limits against hostile files, checked before anything is allocated or run.
struct LoadOptions {
  std::size_t most_file_bytes = std::size_t{8} << 30;
  std::size_t most_expanded_nodes = 1'000'000;  ///< after functions are inlined, subgraphs included
  int most_nesting = 32;                        ///< depth of nested subgraphs
  bool infer_shapes = true;
  Interrupt interrupt = {};  ///< polled between the stages of loading, and before each tensor
};

/// Content of a file that `Model` does not represent: metadata of graphs, nodes and tensors,
/// denotations, annotations, training information, the order of initializers, inputs that have an
/// initializer, fields newer than d5. `save` writes it back for the nodes and tensors that still
/// exist, identified by the tensors that a node writes, and by a tensor's name.
class Remainder {
 public:
  class Content;
  Remainder() = default;
  explicit Remainder(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  /// Null if empty.
  [[nodiscard]] const Content* content() const { return content_.get(); }

 private:
  std::shared_ptr<const Content> content_;
};

/// The full content of a file.
struct ModelFile {
  Model model;
  Remainder remainder = {};
};

struct SaveOptions {
  /// Writes initializers to a second file, PATH.data, each aligned to 4096 bytes. If false, only
  /// for models too large for a protobuf message.
  bool external_data = false;
  std::size_t least_external_bytes = 1024;  ///< smaller initializers stay in the model
  std::size_t most_message_bytes = std::size_t{0x7fffffff};  ///< protobuf's limit
};

/// Reads, checks, inlines functions and infers shapes; docs/reference/file_formats.md lists what is
/// checked.
///
/// Nodes are in topological order. Parameters are not inputs: tensors with an initializer are
/// removed from the graph's inputs, where files before IR version 4 list them. Sparse initializers
/// become dense.
/// Throws: IoError; FormatError with file, node, found and expected value; Unsupported for an opset
/// or IR version above the newest; MemoryError for tensors above the budget; Interrupted.
[[nodiscard]] Model load(const std::string& path, const LoadOptions& options = {});
/// `load` from memory; `file` is the name in error messages. External data is refused.
[[nodiscard]] Model parse(std::span<const std::byte> bytes, const std::string& file,
                          const LoadOptions& options = {});
/// `load` with the remainder of the file.
[[nodiscard]] ModelFile load_file(const std::string& path, const LoadOptions& options = {});
[[nodiscard]] ModelFile parse_file(std::span<const std::byte> bytes, const std::string& file,
                                   const LoadOptions& options = {});
/// Writes a model through temporary files that are renamed: first the data, then the model. Tensors
/// are stored as raw data, sub-byte types packed; docs/reference/file_formats.md lists other
/// differences from the loaded file. Throws: IoError; Unsupported for content that the format
/// cannot represent.
void save(const Model& model, const std::string& path, const SaveOptions& options = {});
void save(const ModelFile& file, const std::string& path, const SaveOptions& options = {});
/// The bytes of a model file, without external data.
[[nodiscard]] std::string serialize(const Model& model);
[[nodiscard]] std::string serialize(const ModelFile& file);

/// The types of a graph's inputs, outputs and inner tensors, by name: declared, or inferred by
/// ONNX's rules. Unknown sizes stay open, or have a name ("N").
[[nodiscard]] std::map<std::string, Type, std::less<>> types_of(const Model& model);

/// Reads a value from a `.pb` file of an ONNX test folder. `type` is the kind to parse; it also
/// decides whether uint16 means bfloat16, as in old files.
[[nodiscard]] Value load_value(const std::string& path, const Type& type);
[[nodiscard]] Value parse_value(std::span<const std::byte> bytes, const Type& type,
                                const std::string& file);
[[nodiscard]] std::string serialize_value(const Value& value, const std::string& name);

/// An ONNX test folder: model.onnx, test_data_set_N with input_*.pb and output_*.pb, and optionally
/// tolerance.txt.
struct TestFolder {
  struct DataSet {
    std::string path;
    std::vector<std::string> inputs, outputs;  ///< files, in the graph's order
  };
  std::string model_path;
  std::vector<DataSet> data_sets;
  /// An output passes within `absolute + relative * |expected|`. The defaults are those of ONNX's
  /// test runner.
  double relative = 1e-3, absolute = 1e-7;
};
/// Lists the files of a test folder. Throws: IoError, FormatError.
[[nodiscard]] TestFolder open_test_folder(const std::string& path);

}  // namespace d5::onnx
