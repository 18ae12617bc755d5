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

/// The newest that d5 understands.
inline constexpr int kNewestOpset = 28;
inline constexpr int kNewestIrVersion = 14;

/// Limits that a hostile file meets before anything is allocated or run.
struct LoadOptions {
  std::size_t most_file_bytes = std::size_t{8} << 30;
  std::size_t most_expanded_nodes = 1'000'000;  ///< after functions are inlined, subgraphs included
  int most_nesting = 32;                        ///< of subgraphs
  bool infer_shapes = true;
  Interrupt interrupt = {};  ///< asked between the stages of loading, and before each tensor
};

/// What a file says that `Model` has no word for: metadata of graphs, nodes and tensors,
/// denotations, annotations, training information, the order of initializers, inputs that have an
/// initializer, fields newer than d5. `save` writes it again, beside the nodes and tensors that are
/// still there: found by the tensors that a node writes, and by a tensor's name.
class Remainder {
 public:
  class Content;
  Remainder() = default;
  explicit Remainder(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  /// Null where there is nothing.
  [[nodiscard]] const Content* content() const { return content_.get(); }

 private:
  std::shared_ptr<const Content> content_;
};

/// A file as a whole.
struct ModelFile {
  Model model;
  Remainder remainder = {};
};

struct SaveOptions {
  /// Initializers go to a second file beside the model, PATH.data, each at a multiple of 4096
  /// bytes: always, or (false) where the model would not fit into a protobuf message.
  bool external_data = false;
  std::size_t least_external_bytes = 1024;  ///< smaller initializers stay in the model
  std::size_t most_message_bytes = std::size_t{0x7fffffff};  ///< protobuf's limit
};

/// Reads, checks, inlines functions and infers shapes; docs/reference/file_formats.md lists what is
/// checked.
///
/// Nodes come in an order in which they can run. A parameter is no input: what has an initializer
/// is left out of the graph's inputs, though files before IR version 4 list it there. Sparse
/// initializers become dense.
/// Throws: IoError; FormatError with file, node, what was given and expected; Unsupported for an
/// opset or IR version above the newest; MemoryError for tensors above the budget; Interrupted.
[[nodiscard]] Model load(const std::string& path, const LoadOptions& options = {});
/// The same from memory; `file` names it in messages. External data is refused.
[[nodiscard]] Model parse(std::span<const std::byte> bytes, const std::string& file,
                          const LoadOptions& options = {});
/// The same with all else that the file says.
[[nodiscard]] ModelFile load_file(const std::string& path, const LoadOptions& options = {});
[[nodiscard]] ModelFile parse_file(std::span<const std::byte> bytes, const std::string& file,
                                   const LoadOptions& options = {});
/// Written to temporary files, then renamed: the data first, then the model. Tensors are stored as
/// raw data, sub-byte types packed; docs/reference/file_formats.md lists what else is written
/// otherwise than it was read. Throws: IoError; Unsupported for what no file can hold.
void save(const Model& model, const std::string& path, const SaveOptions& options = {});
void save(const ModelFile& file, const std::string& path, const SaveOptions& options = {});
/// In memory, without external data.
[[nodiscard]] std::string serialize(const Model& model);
[[nodiscard]] std::string serialize(const ModelFile& file);

/// The types of a graph's inputs, outputs and inner tensors, by name, as the model declares them
/// and as ONNX's rules tell them: sizes that are open stay open, or have a name ("N").
[[nodiscard]] std::map<std::string, Type, std::less<>> types_of(const Model& model);

/// A value in a `.pb` file of an ONNX test folder. `type` tells which kind to parse, and that
/// uint16 stands for bfloat16, as it does in files of old.
[[nodiscard]] Value load_value(const std::string& path, const Type& type);
[[nodiscard]] Value parse_value(std::span<const std::byte> bytes, const Type& type,
                                const std::string& file);
[[nodiscard]] std::string serialize_value(const Value& value, const std::string& name);

/// An ONNX test folder: model.onnx, test_data_set_N with input_*.pb and output_*.pb, and maybe
/// tolerance.txt.
struct TestFolder {
  struct DataSet {
    std::string path;
    std::vector<std::string> inputs, outputs;  ///< files, in the graph's order
  };
  std::string model_path;
  std::vector<DataSet> data_sets;
  /// An output passes within `absolute + relative * |expected|`; the defaults are those of ONNX's
  /// own runner.
  double relative = 1e-3, absolute = 1e-7;
};
/// Throws: IoError, FormatError.
[[nodiscard]] TestFolder open_test_folder(const std::string& path);

}  // namespace d5::onnx
