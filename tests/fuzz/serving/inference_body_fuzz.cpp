// SPDX-License-Identifier: Apache-2.0
// Bodies of the Open Inference Protocol, JSON and the bytes behind it: read as a request and as an
// answer, or refused. A case is the length of its JSON, a line's end, and the body.
#include <fmt/format.h>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/json_damage.hpp"
#include "fuzz/mutation.hpp"
#include "serving/inference/inference_body.hpp"

namespace d5::fuzz {
namespace {

const std::vector<d5::detail::InferenceBody>& sound() {
  static const std::vector<d5::detail::InferenceBody> bodies = [] {
    const std::vector<InferenceTensor> tensors = {
        {"x", Tensor::vector<float>({1, -0.5F, 1e30F})},
        {"s", Tensor::vector<std::string>({"", "two", "\xc3\xa4"})},
        {"b", Tensor::vector<std::int8_t>({1, -128})}};
    const InferenceResponse response{"m", "1", "id", tensors};
    const d5::detail::BinaryWishes json{}, mixed{.by_default = true, .of = {{"x", false}}};
    std::vector<d5::detail::InferenceBody> all = {
        d5::detail::write_request({"m", "1", "id", tensors, {"y", "z"}}),
        d5::detail::write_response(response, json), d5::detail::write_response(response, mixed)};
    std::string request = R"({"id": "42", "parameters": {"binary_data_output": true}, "inputs": [
        {"name": "i", "shape": [2, 2], "datatype": "UINT32", "data": [[1, 2], [3, 4]]},
        {"name": "o", "shape": [3], "datatype": "BOOL", "data": [true, false, true]}],
        "outputs": [{"name": "o", "parameters": {"binary_data": false}}]})";
    all.push_back({request, request.size()});
    return all;
  }();
  return bodies;
}

/// Writes a message and reads it again, as JSON or bytes.
template <class Message, class Read, class Write>
std::string read_again(const Message& message, const Read& read, const Write& write) {
  const d5::detail::InferenceBody once = write(message);
  const d5::detail::InferenceBody twice = write(read(once.bytes, once.head));
  return once.bytes == twice.bytes && once.head == twice.head ? "" : "reads back otherwise";
}

std::string as_request(std::string_view body, std::size_t head) {
  const auto read = [](std::string_view bytes, std::size_t length) {
    d5::detail::BinaryWishes wishes;
    return d5::detail::read_request(bytes, length, wishes);
  };
  return read_again(read(body, head), read, d5::detail::write_request);
}

std::string as_answer(std::string_view body, std::size_t head) {
  return read_again(d5::detail::read_response(body, head), d5::detail::read_response,
                    [](const InferenceResponse& response) {
                      return d5::detail::write_response(response, {.by_default = true});
                    });
}

}  // namespace

std::string name() { return "inference_body"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  const auto& [bytes, length] = pick(random, sound());
  std::string json = bytes.substr(0, length), raw = bytes.substr(length);
  if (!one_in(random, 4)) json = with_other_values(json, random);
  if (one_in(random, 8)) json = with_damage(json, random);
  if (one_in(random, 4)) raw = with_damage(raw, random);
  const auto told = one_in(random, 8) ? some_integer(random) : std::int64_t(json.size());
  return fmt::format("{}\n{}{}", told, json, raw);
}

std::string run_case(const std::string& bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size() - 1);
  const std::string_view body = std::string_view(bytes).substr(line + 1);
  const auto head = d5::detail::whole_number<std::size_t>(bytes.substr(0, line));
  const std::size_t length = head.value_or(body.size());
  try {
    return as_request(body, length);
  } catch (const ContractError&) {
    throw;
  } catch (const Error&) {
    return as_answer(body, length);
  }
}

}  // namespace d5::fuzz
