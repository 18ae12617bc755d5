// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/inference_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/parsing/json_depth.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/inference/json_data.hpp"
#include "serving/inference/raw_tensor.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTensors = 1024;

/// Throws: FormatError, with the nearest known name.
void expect_one_of(const char* kind, const std::string& who, const std::string& name,
                   const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  try {
    throw_unknown_name(fmt::format("{} of {}", kind, who), name, known);
  } catch (const NotFound& error) {  // the request is wrong, not its address
    throw FormatError(error.what());
  }
}

/// The JSON of a body, and the remaining bytes behind it.
class BodyReader {
 public:
  BodyReader(std::string_view body, std::size_t head, const char* what) : what_(what) {
    if (head > body.size()) {
      fail(fmt::format("{} says that {} bytes are JSON, but there are {}", kHeadLength, head,
                       body.size()));
    }
    expect_shallow_json(body.substr(0, head), what_);
    root_ = json::parse(body.substr(0, head), nullptr, false);
    if (root_.is_discarded()) fail("it is no JSON");
    if (!root_.is_object()) fail("it is no JSON object");
    rest_ = body.substr(head);
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw FormatError(fmt::format("{}: {}", what_, why));
  }
  [[nodiscard]] const json& root() const { return root_; }

  /// An optional text. Throws: FormatError for another type.
  [[nodiscard]] std::string text(const json& object, const char* name) const {
    const auto found = object.find(name);
    if (found == object.end()) return {};
    if (!found->is_string()) fail(fmt::format("'{}' is no text", name));
    return found->get<std::string>();
  }
  /// "input 'image'"
  [[nodiscard]] std::string named(const json& object, const char* kind) const {
    return fmt::format("{} '{}'", kind, printable(text(object, "name")));
  }
  /// The objects in an array.
  [[nodiscard]] std::vector<const json*> objects(const char* name, bool required) const {
    std::vector<const json*> result;
    const auto found = root_.find(name);
    if (found == root_.end()) {
      if (required) fail(fmt::format("it has no '{}'", name));
      return result;
    }
    if (!found->is_array() || found->size() > kMostTensors) {
      fail(fmt::format("'{}' is no array of at most {}", name, kMostTensors));
    }
    for (const json& one : *found) {
      if (!one.is_object()) fail(fmt::format("'{}' has what is no object", name));
      result.push_back(&one);
    }
    return result;
  }
  /// An optional flag among an object's parameters.
  [[nodiscard]] bool flag(const json& object, const char* name, bool otherwise) const {
    const json* value = parameter(object, name);
    if (!value) return otherwise;
    if (!value->is_boolean()) fail(fmt::format("parameter '{}' is no bool", name));
    return value->get<bool>();
  }
  /// An optional whole number among an object's parameters; 0: none.
  [[nodiscard]] std::int64_t count(const json& object, const char* name) const {
    const json* value = parameter(object, name);
    if (!value) return 0;
    const bool fits = value->is_number_unsigned()
                          ? std::in_range<std::int64_t>(value->get<std::uint64_t>())
                          : value->is_number_integer();
    if (!fits) fail(fmt::format("parameter '{}' is no whole number", name));
    return value->get<std::int64_t>();
  }
  /// Throws: FormatError for members or parameters of an object that d5 does not know.
  void expect_known(const json& object, const std::string& who,
                    const std::vector<std::string>& members,
                    const std::vector<std::string>& parameters) const {
    for (const auto& [name, value] : object.items()) expect_one_of("member", who, name, members);
    const auto given = object.find("parameters");
    if (given == object.end()) return;
    if (!given->is_object()) fail(who + ": 'parameters' is no object");
    for (const auto& [name, value] : given->items()) {
      expect_one_of("parameter", who, name, parameters);
    }
  }
  [[nodiscard]] InferenceTensor tensor(const json& object, const char* kind);
  void expect_end() const {
    if (!rest_.empty()) fail(fmt::format("{} bytes are left behind its tensors", rest_.size()));
  }

 private:
  [[nodiscard]] const json* parameter(const json& object, const char* name) const {
    const auto parameters = object.find("parameters");
    if (parameters == object.end()) return nullptr;
    if (!parameters->is_object()) fail("'parameters' is no object");
    const auto found = parameters->find(name);
    return found == parameters->end() ? nullptr : &*found;
  }
  [[nodiscard]] Shape shape(const json& object, const std::string& who) const {
    const auto found = object.find("shape");
    if (found == object.end() || !found->is_array()) fail(who + " has no 'shape'");
    Shape shape;
    for (const json& size : *found) {
      const bool fits = size.is_number_unsigned()
                            ? std::in_range<std::int64_t>(size.get<std::uint64_t>())
                            : size.is_number_integer();
      if (!fits) fail(who + ": its 'shape' has what is no size");
      shape.push_back(size.get<std::int64_t>());
    }
    return shape;
  }

  const char* what_;
  json root_;
  std::string_view rest_;
};

InferenceTensor BodyReader::tensor(const json& object, const char* kind) {
  InferenceTensor result;
  result.name = text(object, "name");
  const std::string who = named(object, kind);
  const DType dtype = inference_dtype(text(object, "datatype"));
  const Shape sizes = shape(object, who);
  const auto data = object.find("data");
  const json* bytes = parameter(object, "binary_data_size");
  if ((data != object.end()) == (bytes != nullptr)) {
    fail(who + ": expected either 'data' or the parameter 'binary_data_size'");
  }
  if (!bytes) {
    result.tensor = tensor_of_json(who, dtype, sizes, *data);
    return result;
  }
  if (!bytes->is_number_unsigned() || bytes->get<std::uint64_t>() > rest_.size()) {
    fail(fmt::format("{}: its 'binary_data_size' is none of the {} bytes behind the JSON", who,
                     rest_.size()));
  }
  const auto size = bytes->get<std::size_t>();
  result.tensor = tensor_of_raw(who, dtype, sizes, rest_.substr(0, size));
  rest_.remove_prefix(size);
  return result;
}

json described(const InferenceTensor& one) {
  const auto dims = one.tensor.shape().dims();
  return {{"name", one.name},
          {"datatype", inference_type_of(one.tensor.dtype())},
          {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())}};
}

/// Writes a tensor as bytes behind the JSON, which has their number.
json described_raw(const InferenceTensor& one, std::string& bytes) {
  json object = described(one);
  object["parameters"]["binary_data_size"] = raw_size_of(one.tensor);
  append_raw(one.tensor, bytes);
  return object;
}

InferenceBody put_together(const json& head, const std::string& bytes) {
  InferenceBody body;
  try {
    body.bytes = head.dump();
  } catch (const json::exception&) {
    throw ValueError("JSON cannot say bytes that are no UTF-8; ask for binary data");
  }
  body.head = body.bytes.size();
  body.bytes += bytes;
  return body;
}

}  // namespace

bool BinaryWishes::wanted(const std::string& output) const {
  const auto found = of.find(output);
  return found == of.end() ? by_default : found->second;
}

InferenceRequest read_request(std::string_view body, std::size_t head, BinaryWishes& wishes) {
  BodyReader reader(body, head, "request");
  InferenceRequest request;
  reader.expect_known(reader.root(), "request",
                      {"id", "inputs", "model_name", "model_version", "outputs", "parameters"},
                      {"binary_data_output"});
  request.id = reader.text(reader.root(), "id");
  for (const json* input : reader.objects("inputs", true)) {
    reader.expect_known(*input, reader.named(*input, "input"),
                        {"data", "datatype", "name", "parameters", "shape"}, {"binary_data_size"});
    request.inputs.push_back(reader.tensor(*input, "input"));
  }
  reader.expect_end();
  wishes.by_default = reader.flag(reader.root(), "binary_data_output", false);
  for (const json* output : reader.objects("outputs", false)) {
    const std::string name = reader.text(*output, "name");
    reader.expect_known(*output, reader.named(*output, "output"), {"name", "parameters"},
                        {"binary_data", "classification"});
    if (const std::int64_t classes = reader.count(*output, "classification"); classes != 0) {
      request.classes[name] = classes;
    }
    wishes.of[name] = reader.flag(*output, "binary_data", wishes.by_default);
    request.outputs.push_back(name);
  }
  return request;
}

InferenceBody write_request(const InferenceRequest& request) {
  std::string bytes;
  json head;
  if (!request.id.empty()) head["id"] = request.id;
  head["parameters"]["binary_data_output"] = true;
  head["inputs"] = json::array();
  for (const auto& input : request.inputs) head["inputs"].push_back(described_raw(input, bytes));
  for (const std::string& output : request.outputs) {
    head["outputs"].push_back({{"name", output}, {"parameters", {{"binary_data", true}}}});
  }
  return put_together(head, bytes);
}

InferenceBody write_response(const InferenceResponse& response, const BinaryWishes& wishes) {
  std::string bytes;
  json head = {{"model_name", response.model}, {"model_version", response.version}};
  if (!response.id.empty()) head["id"] = response.id;
  head["outputs"] = json::array();
  for (const InferenceTensor& output : response.outputs) {
    if (wishes.wanted(output.name)) {
      head["outputs"].push_back(described_raw(output, bytes));
      continue;
    }
    json object = described(output);
    object["data"] = json_of(fmt::format("output '{}'", printable(output.name)), output.tensor);
    head["outputs"].push_back(std::move(object));
  }
  return put_together(head, bytes);
}

InferenceResponse read_response(std::string_view body, std::size_t head) {
  BodyReader reader(body, head, "answer");
  InferenceResponse response;
  response.model = reader.text(reader.root(), "model_name");
  response.version = reader.text(reader.root(), "model_version");
  response.id = reader.text(reader.root(), "id");
  for (const json* output : reader.objects("outputs", true)) {
    response.outputs.push_back(reader.tensor(*output, "output"));
  }
  reader.expect_end();
  return response;
}

}  // namespace d5::detail
