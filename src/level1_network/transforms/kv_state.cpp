// SPDX-License-Identifier: Apache-2.0
// Gives an exported decoder its key-value caches as state.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/opset_conversion.hpp"
#include "d5/onnx/schema.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "onnx/tensor_type.hpp"

namespace d5::transform {
namespace {

using Attention = onnx::nodes::Attention;
using GroupQueryAttention = onnx::nodes::microsoft::GroupQueryAttention;
using Integers = std::vector<std::int64_t>;

constexpr int kOpset = 24;  // the first with TensorScatter
constexpr const char* kLogits = "logits";
constexpr std::int64_t kRows = 2;  // axis of a cache: texts x heads x rows x size

struct KvStateOptions {
  std::int64_t slots = 1, capacity = 512;
  void declare(OptionList& options) {
    options.add("slots", slots, "number of texts in a run", {.least = 1});
    options.add("capacity", capacity, "tokens in the cache of a slot",
                {.least = 1, .most = std::numeric_limits<std::int32_t>::max()});
  }
};

[[noreturn]] void refuse(const std::string& who, const std::string& found,
                         const std::string& expected) {
  throw Unsupported(fmt::format("transform kv-state: {} {}, expected {}", who, found, expected));
}

std::string in_quotes(const std::string& tensor) { return "'" + printable(tensor) + "'"; }

bool is_onnx(const onnx::Node& node, std::string_view op_type) {
  return node.domain.empty() && node.op_type == op_type;
}

bool is_grouped(const onnx::Node& node) {
  return node.domain == GroupQueryAttention::kDomain && node.op_type == GroupQueryAttention::kName;
}

/// Keeps the nodes, inputs and initializers that the outputs of a graph depend on.
void keep_needed(onnx::Graph& graph) {
  std::set<std::string> kept;
  for (const auto& output : graph.outputs) kept.insert(output.name);
  std::vector<onnx::Node> needed;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto is_kept = [&](const std::string& output) { return kept.contains(output); };
    if (std::ranges::none_of(node->outputs, is_kept)) continue;
    for (const auto& name : read_names(*node)) kept.insert(name);
    needed.push_back(std::move(*node));
  }
  std::ranges::reverse(needed);
  graph.nodes = std::move(needed);
  std::erase_if(graph.inputs, [&](const auto& input) { return !kept.contains(input.name); });
  std::erase_if(graph.initializers, [&](const auto& value) { return !kept.contains(value.first); });
  graph.values.clear();
}

/// What inputs of an exported decoder are for.
struct DecoderInputs {
  explicit DecoderInputs(const onnx::Graph& graph) {
    for (const auto& input : graph.inputs) {
      if (graph.initializers.contains(input.name)) continue;
      if (is_cache(input)) {
        caches.push_back(&input);
      } else if (input.type.dtype != DType::int64 || input.type.dims.size() != 2) {
        refuse_input(input);
      } else if (is_tokens(input)) {
        tokens = &input;
      } else if (input.name == "attention_mask") {
        mask = &input;
      } else if (input.name == "position_ids") {
        positions = &input;
      } else {
        refuse_input(input);
      }
    }
  }

  static bool is_cache(const onnx::ValueInfo& input) {
    return input.type.kind == ValueKind::tensor && input.type.dtype != DType::int64 &&
           input.type.dims.size() == 4;
  }
  static bool is_tokens(const onnx::ValueInfo& input) {
    return input.name == "input_ids" || input.name == "tokens";
  }
  /// What a network has not that every exported decoder has; empty: nothing.
  static std::string lacking(const onnx::Graph& graph) {
    if (std::ranges::none_of(graph.inputs, is_tokens)) return "no input is 'input_ids'";
    if (std::ranges::none_of(graph.inputs, is_cache))
      return "no input is a cache of four dimensions";
    return "";
  }

  const onnx::ValueInfo *tokens = nullptr, *mask = nullptr, *positions = nullptr;
  std::vector<const onnx::ValueInfo*> caches;

 private:
  [[noreturn]] static void refuse_input(const onnx::ValueInfo& input) {
    refuse("input " + in_quotes(input.name), "is " + onnx::to_string(input.type),
           "input_ids, attention_mask, position_ids (int64 texts x T), or past keys and values "
           "(texts x heads x rows x size)");
  }
};

/// The model in an opset with TensorScatter, without inner tensors of the names of new inputs.
onnx::Model exported(const Network& network) {
  const auto& imports = network.model().opset_imports;
  const auto version = imports.find("");
  onnx::Model model = onnx::in_opset(
      network.model(), version == imports.end() ? kOpset : std::max(kOpset, version->second));
  onnx::Graph& graph = model.graph;
  for (const char* name : {"tokens", "starts", "places"}) {
    if (std::ranges::find(graph.inputs, name, &onnx::ValueInfo::name) != graph.inputs.end())
      continue;
    const NewNames other{{name, network.unused_name(fmt::format("{}.inner", name))}};
    for (auto* infos : {&graph.outputs, &graph.values}) {
      std::erase_if(*infos, [&](const auto& info) { return info.name == name; });
    }
    for (onnx::Node& node : graph.nodes) {
      std::ranges::replace(node.outputs, std::string(name), other.at(name));
      rename_reads(node, other);
    }
    if (auto value = graph.initializers.extract(name)) {
      value.key() = other.at(name);
      graph.initializers.insert(std::move(value));
    }
  }
  return model;
}

/// Known size of a dimension, or -1.
std::int64_t size_of(const onnx::Dim& dim) {
  const auto* size = std::get_if<std::int64_t>(&dim);
  return size ? *size : -1;
}

/// A network of the exporters' form, on the way to that of the built-in network `decoder`.
class StatefulDecoder {
 public:
  StatefulDecoder(const Network& network, const KvStateOptions& options)
      : options_(options),
        exported_(exported(network)),
        model_(exported_),
        inputs_(exported_.graph),
        types_(onnx::types_of(exported_)) {
    for (const auto& node : exported_.graph.nodes) {
      for (const auto& output : node.outputs) {
        if (!output.empty()) writers_[output] = &node;
      }
      for (const auto& name : read_names(node)) readers_[name].push_back(&node);
    }
    expect_open_batch();
    if (!is_output(kLogits)) {
      refuse("the network", "has no output 'logits'", "scores, texts x T x vocabulary");
    }
  }

  /// Throws: Unsupported for a network of another form.
  onnx::Model run() {
    for (const onnx::ValueInfo* cache : inputs_.caches) keep(*cache);
    for (onnx::Node& node : model_.graph.nodes) {
      if (is_onnx(node, "Attention")) attend(node);
    }
    expect_causal();
    write_sizes();
    set_inputs();
    set_output();
    keep_needed(model_.graph);
    expect_replaced();
    return std::move(model_);
  }

  /// Caches, each with the tensor that holds it after a run.
  [[nodiscard]] const std::map<std::string, std::string>& updates() const { return updates_; }

 private:
  void expect_open_batch() const {
    const auto& dims = inputs_.tokens->type.dims;
    const std::int64_t texts = size_of(dims[0]), count = size_of(dims[1]);
    if ((texts < 0 || texts == options_.slots) && count < 0) return;
    refuse("input " + in_quotes(inputs_.tokens->name), "is " + to_string(inputs_.tokens->type),
           fmt::format("open sizes, or {} texts", options_.slots));
  }

  [[nodiscard]] bool is_output(const std::string& tensor) const {
    return std::ranges::any_of(exported_.graph.outputs,
                               [&](const auto& output) { return output.name == tensor; });
  }
  [[nodiscard]] const onnx::Node* writer(const std::string& tensor) const {
    const auto place = writers_.find(tensor);
    return place == writers_.end() ? nullptr : place->second;
  }
  onnx::Node& own(const onnx::Node& node) {
    return model_.graph.nodes[std::size_t(&node - exported_.graph.nodes.data())];
  }
  [[nodiscard]] const onnx::Type* type_of(const std::string& tensor) const {
    const auto place = types_.find(tensor);
    return place == types_.end() || !place->second.has_shape ? nullptr : &place->second;
  }

  // Caches.

  /// Makes an input of past keys or values a constant that runs update.
  void keep(const onnx::ValueInfo& cache) {
    const std::int64_t heads = size_of(cache.type.dims[1]), size = size_of(cache.type.dims[3]);
    if (heads < 1 || size < 1) {
      refuse("input " + in_quotes(cache.name), "is " + to_string(cache.type),
             "a known number of heads, and their size");
    }
    std::string present;
    for (const onnx::Node* node : readers_[cache.name]) {
      const std::string written = is_onnx(*node, "Concat") ? append(*node, cache.name)
                                  : is_grouped(*node)      ? append_grouped(*node, cache.name)
                                                           : std::string();
      if (!written.empty() && !present.empty()) {
        refuse(onnx::describe(*node), "reads " + in_quotes(cache.name) + ", too", "one reader");
      }
      if (!written.empty()) present = written;
    }
    if (present.empty()) {
      const auto& found = readers_[cache.name];
      refuse(found.empty() ? "no node" : onnx::describe(*found.front()),
             "reads " + in_quotes(cache.name),
             "Concat of past and new rows, or com.microsoft GroupQueryAttention");
    }
    if (!is_output(present)) {
      refuse("tensor " + in_quotes(present), "is no output of the network",
             "present keys and values as outputs");
    }
    updates_[cache.name] = present;
    model_.graph.initializers[cache.name] =
        Tensor::zeros(cache.type.dtype, {options_.slots, heads, options_.capacity, size});
  }

  /// Concat(past, new) becomes TensorScatter(cache, new, starts).
  std::string append(const onnx::Node& concat, const std::string& cache) {
    const std::int64_t axis = onnx::nodes::Concat(concat).axis().value_or(0);
    if (concat.inputs.size() != 2 || concat.inputs[0] != cache || concat.inputs[1] == cache ||
        (axis != kRows && axis != kRows - 4)) {
      refuse(onnx::describe(concat),
             fmt::format("joins {} tensors along axis {}", concat.inputs.size(), axis),
             fmt::format("{}, then new rows, along axis {}", in_quotes(cache), kRows));
    }
    onnx::Node& node = own(concat);
    node.op_type = "TensorScatter";
    node.inputs = {cache, concat.inputs[1], "starts"};
    node.attributes = {{"axis", kRows}};
    return concat.outputs[0];
  }

  std::string append_grouped(const onnx::Node& node, const std::string& cache) {
    using In = GroupQueryAttention::In;
    using Out = GroupQueryAttention::Out;
    const bool is_key = node.has_input(In::past_key) && node.inputs[In::past_key] == cache;
    const std::size_t out = is_key ? Out::present_key : Out::present_value;
    if (!node.has_output(out) || std::ranges::count(node.inputs, cache) != 1) {
      refuse(onnx::describe(node), "has no present of " + in_quotes(cache) + " alone",
             "outputs present_key and present_value");
    }
    if (node.has_input(In::attention_bias)) {
      refuse(onnx::describe(node), "reads an attention_bias", "none");
    }
    if (node.has_input(In::cos_cache)) expect_rotations(node, node.inputs[In::cos_cache]);
    onnx::Node& mine = own(node);
    mine.inputs[In::seqlens_k] = last_rows();
    mine.inputs[In::total_sequence_length] = total();
    const auto& present = node.outputs[out];
    for (const onnx::Node* reader : readers_[present]) {
      refuse(onnx::describe(*reader), "reads " + in_quotes(present),
             "an output of the network alone");
    }
    return present;
  }

  void expect_rotations(const onnx::Node& node, const std::string& table) const {
    const auto value = exported_.graph.initializers.find(table);
    if (value == exported_.graph.initializers.end() || value->second.shape().rank() != 2) {
      refuse(onnx::describe(node), "reads " + in_quotes(table), "a constant table of rotations");
    }
    const std::int64_t rows = value->second.shape()[0];
    if (rows >= options_.capacity) return;
    refuse(onnx::describe(node), fmt::format("has rotations for {} tokens", rows),
           fmt::format("a capacity of at most that, not {}", options_.capacity));
  }

  // Attention over caches.

  /// The cache's new value that `tensor` is, with heads repeated for groups of queries or without;
  /// empty for another tensor.
  [[nodiscard]] std::string present_of(const std::string& tensor, std::int64_t heads) const {
    const auto is_present = [&](const std::string& name) {
      return std::ranges::any_of(updates_, [&](const auto& u) { return u.second == name; });
    };
    if (is_present(tensor)) return tensor;
    // Reshape(Expand(Unsqueeze(present, 2))), texts x kv_heads x group x rows x size in between.
    const onnx::Node* reshape = writer(tensor);
    if (!reshape || !is_onnx(*reshape, "Reshape")) return "";
    const onnx::Node* expand = writer(reshape->inputs[0]);
    if (!expand || !is_onnx(*expand, "Expand")) return "";
    const onnx::Node* unsqueeze = writer(expand->inputs[0]);
    if (!unsqueeze || !is_onnx(*unsqueeze, "Unsqueeze") || !is_present(unsqueeze->inputs[0])) {
      return "";
    }
    const auto axes = exported_.graph.initializers.find(unsqueeze->inputs[1]);
    const onnx::Type *whole = type_of(tensor), *kept = type_of(unsqueeze->inputs[0]);
    const bool repeats =
        axes != exported_.graph.initializers.end() && axes->second.elements() == 1 &&
        axes->second.on_host().data<std::int64_t>()[0] == kRows && whole && kept &&
        whole->dims.size() == 4 && kept->dims.size() == 4 && size_of(whole->dims[1]) == heads &&
        size_of(whole->dims[3]) == size_of(kept->dims[3]);
    return repeats ? unsqueeze->inputs[0] : "";
  }

  void attend(onnx::Node& node) {
    const Attention view(node);
    const std::string who = onnx::describe(node);
    const onnx::Type* query = type_of(node.inputs[Attention::In::Q]);
    const std::int64_t heads = query && query->dims.size() == 4 ? size_of(query->dims[1]) : -1;
    if (heads < 1) refuse(who, "has a query of unknown heads", "texts x heads x T x size");
    std::array<std::string, 2> kept;
    for (const std::size_t i : {Attention::In::K, Attention::In::V}) {
      kept[i - 1] = present_of(node.inputs[i], heads);
      if (!kept[i - 1].empty()) continue;
      const onnx::Node* from = writer(node.inputs[i]);
      refuse(who,
             fmt::format("reads {}, which {} writes", in_quotes(node.inputs[i]),
                         from ? onnx::describe(*from) : "no node"),
             "present keys and values, or their heads repeated by Unsqueeze, Expand and Reshape");
    }
    if (view.is_causal() != 0)
      refuse(who, "has is_causal", "a mask: past tokens move the diagonal");
    if (!node.has_input(Attention::In::attn_mask)) refuse(who, "has no mask", "a causal one");
    for (std::size_t i = Attention::In::past_key; i < node.inputs.size(); ++i) {
      if (node.has_input(i)) refuse(who, "reads " + onnx::describe_input(node, i), "none");
    }
    for (std::size_t k = 1; k < node.outputs.size(); ++k) {
      if (node.has_output(k)) refuse(who, "writes " + in_quotes(node.outputs[k]), "one output");
    }
    masks_.insert(node.inputs[Attention::In::attn_mask]);
    node.inputs = {node.inputs[Attention::In::Q], kept[0], kept[1], "", "", "", lengths()};
    node.attributes["is_causal"] = std::int64_t{1};
  }

  // The mask.

  /// The masks must say what `is_causal` and lengths say: they are computed for texts of several
  /// lengths, up to the capacity.
  void expect_causal() const {
    if (masks_.empty()) return;
    onnx::Model masks = exported_;
    masks.graph.outputs.clear();
    for (const auto& mask : masks_) masks.graph.outputs.push_back({mask, {}});
    keep_needed(masks.graph);
    const std::vector<onnx::ValueInfo> fed = masks.graph.inputs;
    const auto executor = make_executor(Network(std::move(masks)));
    constexpr std::int64_t kMostNew = 32;
    const std::int64_t most = std::min(options_.capacity, kMostNew);
    for (const auto& [past, count] :
         {std::pair(std::int64_t{0}, most), std::pair(options_.capacity / 2, std::int64_t{1}),
          std::pair(options_.capacity - most, most),
          std::pair(options_.capacity - 1, std::int64_t{1})}) {
      ValueMap inputs;
      for (const auto& input : fed) inputs.emplace(input.name, value_of(input, past, count));
      for (const auto& [name, mask] : executor->inference(inputs)) {
        expect_causal(name, mask.tensor().on_host(), past, count);
      }
    }
  }

  /// A value of an input for one text with `past` tokens and `count` new ones.
  [[nodiscard]] Tensor value_of(const onnx::ValueInfo& input, std::int64_t past,
                                std::int64_t count) const {
    const std::int64_t texts = std::max<std::int64_t>(size_of(input.type.dims[0]), 1);
    const bool is_mask = inputs_.mask && input.name == inputs_.mask->name;
    if (input.type.dims.size() == 4) {
      return Tensor::zeros(input.type.dtype,
                           {texts, size_of(input.type.dims[1]), past, size_of(input.type.dims[3])});
    }
    Tensor value = Tensor::zeros(DType::int64, {texts, is_mask ? past + count : count});
    const auto numbers = value.span<std::int64_t>();
    if (is_mask) std::ranges::fill(numbers, 1);
    if (inputs_.positions && input.name == inputs_.positions->name) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = past + std::int64_t(i) % count;
      }
    }
    return value;
  }

  static void expect_causal(const std::string& name, const Tensor& mask, std::int64_t past,
                            std::int64_t count) {
    constexpr float kNever = -1e4F;  // the softmax of such a score is 0
    const Shape& shape = mask.shape();
    const std::size_t rank = shape.rank();
    const bool is_flag = mask.dtype() == DType::boolean;
    if (rank < 2 || shape[rank - 1] != past + count || shape[rank - 2] != count ||
        (!is_flag && mask.dtype() != DType::float32)) {
      refuse("mask " + in_quotes(name), "is " + to_string(mask.desc()),
             fmt::format("bool or float32, {} x {} at its end", count, past + count));
    }
    for (std::int64_t i = 0; i < mask.elements(); ++i) {
      const std::int64_t column = i % (past + count), row = i / (past + count) % count;
      const bool may = column <= past + row;
      const float score = is_flag ? 0 : mask.data<float>()[i];
      const bool fits = is_flag ? mask.data<bool>()[i] == may : may ? score == 0 : score <= kNever;
      if (fits) continue;
      refuse("mask " + in_quotes(name),
             fmt::format("lets the token at {} {} that at {}, of {}", past + row,
                         may ? "not read" : "read", column, past + count),
             "a causal one, which lets it read all up to itself");
    }
  }

  // Inputs and output of the new form.

  /// Sizes of caches are known now. The number of rows had another meaning.
  void write_sizes() {
    for (onnx::Node& node : model_.graph.nodes) {
      if (!is_onnx(node, "Shape")) continue;
      const auto cache = std::ranges::find_if(updates_, [&](const auto& update) {
        return update.first == node.inputs[0] || update.second == node.inputs[0];
      });
      if (cache == updates_.end()) continue;
      const auto sizes = model_.graph.initializers.at(cache->first).shape().dims();
      const onnx::nodes::Shape view(node);
      const auto rank = std::int64_t(sizes.size());
      const auto place = [&](std::int64_t at) {
        return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank);
      };
      const std::int64_t begin = place(view.start()), end = place(view.end().value_or(rank));
      if (begin >= end || (begin <= kRows && kRows < end)) continue;
      const auto known = sizes.subspan(std::size_t(begin), std::size_t(end - begin));
      node.op_type = "Constant";
      node.inputs.clear();
      node.attributes = {{"value", Tensor::vector(Integers(known.begin(), known.end()))}};
    }
  }

  std::string unused(const std::string& stem) const {
    std::string name = stem;
    for (int i = 2; is_taken(name); ++i) name = fmt::format("{}_{}", stem, i);
    return name;
  }
  [[nodiscard]] bool is_taken(const std::string& name) const {
    return writers_.contains(name) || readers_.contains(name) || names_.contains(name) ||
           model_.graph.initializers.contains(name);
  }
  std::string named(const std::string& stem) { return *names_.insert(unused(stem)).first; }

  std::string constant(const std::string& stem, Tensor value) {
    const std::string name = named(stem);
    model_.graph.initializers[name] = std::move(value);
    return name;
  }
  std::string add(std::vector<onnx::Node>& nodes, const char* op_type,
                  std::vector<std::string> inputs, const std::string& output,
                  std::map<std::string, onnx::Attribute, std::less<>> attributes = {}) {
    onnx::Node& node = nodes.emplace_back();
    node.op_type = op_type;
    node.name = "kv-state." + output;
    node.opset = model_.opset_imports.at("");
    node.inputs = std::move(inputs);
    node.outputs = {output};
    node.attributes = std::move(attributes);
    return output;
  }

  /// Number of new tokens, T.
  std::string count() {
    if (!count_.empty()) return count_;
    const std::string none = constant("kv.none", Tensor::vector(Integers{}));
    const std::string sizes =
        add(first_, "Shape", {"tokens"}, named("kv.sizes"), {{"start", std::int64_t{1}}});
    return count_ = add(first_, "Reshape", {sizes, none}, named("kv.count"));
  }
  /// Rows that the caches hold after the run.
  std::string lengths() {
    if (!lengths_.empty()) return lengths_;
    return lengths_ = add(first_, "Add", {"starts", count()}, named("kv.lengths"));
  }
  /// The last row of each text, int32.
  std::string last_rows() {
    if (!last_.empty()) return last_;
    const std::string one = constant("kv.one", Tensor::scalar(std::int64_t{1}));
    const std::string last = add(first_, "Sub", {lengths(), one}, named("kv.last"));
    return last_ = add(first_, "Cast", {last}, named("kv.seqlens"),
                       {{"to", std::int64_t(DType::int32)}});
  }
  /// Sizes of the caches: a run with fewer new tokens is none of a prompt alone.
  std::string total() {
    if (total_.empty()) {
      total_ = constant("kv.total", Tensor::scalar(std::int32_t(options_.capacity)));
    }
    return total_;
  }

  void set_inputs() {
    if (inputs_.positions) {
      const std::string zero = constant("kv.zero", Tensor::scalar(std::int64_t{0}));
      const std::string step = constant("kv.step", Tensor::scalar(std::int64_t{1}));
      const std::string column = constant("kv.column", Tensor::vector(Integers{1}));
      const std::string offsets = add(first_, "Range", {zero, count(), step}, named("kv.offsets"));
      const std::string first = add(first_, "Unsqueeze", {"starts", column}, named("kv.first"));
      add(first_, "Add", {first, offsets}, inputs_.positions->name);
    }
    if (inputs_.tokens->name != "tokens") {
      for (onnx::Node& node : model_.graph.nodes) {
        rename_reads(node, {{inputs_.tokens->name, "tokens"}});
      }
    }
    auto& nodes = model_.graph.nodes;
    nodes.insert(nodes.begin(), first_.begin(), first_.end());
    using onnx::Dim;
    model_.graph.inputs = {{"tokens", tensor_type(DType::int64, {Dim(options_.slots), Dim("T")})},
                           {"starts", tensor_type(DType::int64, {Dim(options_.slots)})},
                           {"places", tensor_type(DType::int64, {Dim(options_.slots), Dim("L"),
                                                                 Dim(std::int64_t{1})})}};
  }

  /// Scores after the tokens at `places` alone.
  void set_output() {
    const std::string all = named("logits.all");
    for (onnx::Node& node : model_.graph.nodes) {
      std::ranges::replace(node.outputs, std::string(kLogits), all);
      rename_reads(node, {{kLogits, all}});
    }
    add(model_.graph.nodes, "GatherND", {all, "places"}, kLogits,
        {{"batch_dims", std::int64_t{1}}});
    model_.graph.outputs = {{kLogits, {}}};
  }

  /// What the new form has not, no node may read any more.
  void expect_replaced() {
    for (const onnx::Node& node : model_.graph.nodes) {
      for (const auto& name : read_names(node)) {
        if (inputs_.mask && name == inputs_.mask->name) {
          refuse(onnx::describe(node), "reads " + in_quotes(name),
                 "a mask of Attention, or lengths of GroupQueryAttention, alone to read it");
        }
        for (const auto& [past, present] : updates_) {
          if (name == past || name == present) expect_cache_reader(node, name);
        }
      }
    }
  }

  void expect_cache_reader(const onnx::Node& node, const std::string& cache) const {
    if (is_onnx(node, "TensorScatter") || is_onnx(node, "Attention") || is_grouped(node)) return;
    refuse(onnx::describe(node), "reads " + in_quotes(cache),
           "Attention or the texts' number alone to read it: its rows are now those of the "
           "capacity");
  }

  const KvStateOptions& options_;
  onnx::Model exported_, model_;
  DecoderInputs inputs_;
  std::map<std::string, onnx::Type, std::less<>> types_;
  std::map<std::string, const onnx::Node*> writers_;
  std::map<std::string, std::vector<const onnx::Node*>> readers_;
  std::map<std::string, std::string> updates_;
  std::set<std::string> masks_, names_;
  std::vector<onnx::Node> first_;  ///< new nodes before all others
  std::string count_, lengths_, last_, total_;
};

/// Inputs of the result are those of the built-in network `decoder`, which `NetworkGenerator` has:
/// tokens, starts (rows of each text's caches that are filled) and places (tokens to score after).
/// Each past becomes a constant of `capacity` rows that runs update.
class KvState final : public Transform {
 public:
  using Options = KvStateOptions;
  explicit KvState(const Options& options) : options_(options) {}

  [[nodiscard]] Keeps keeps() const override { return Keeps::outputs; }
  TransformReport apply(Network& network) const override {
    const std::string lacking = DecoderInputs::lacking(network.graph());
    if (!lacking.empty()) return {"", {"the network is no exported decoder: " + lacking}};
    StatefulDecoder decoder(network, options_);
    network.rewrite(decoder.run());
    for (const auto& [cache, present] : decoder.updates()) network.add_update(cache, present);
    return {fmt::format("made {} caches state: {} slots of {} tokens", decoder.updates().size(),
                        options_.slots, options_.capacity)};
  }

 private:
  Options options_;
};

}  // namespace

void register_kv_state(Registry<TransformEntry>& registry) {
  registry.add("kv-state",
               TransformEntry::of<KvState>(
                   "key-value caches as state: past inputs and present outputs of an exported "
                   "decoder become constants that runs update"));
}

}  // namespace d5::transform
