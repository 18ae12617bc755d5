// SPDX-License-Identifier: Apache-2.0
// Messages of the Open Inference Protocol over gRPC: read, or refused. What was read is the same
// when it is read again.
#include <google/protobuf/stubs/logging.h>

#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/message_damage.hpp"
#include "fuzz/mutation.hpp"
#include "serving/inference/grpc_messages.hpp"

namespace d5::fuzz {
namespace {

using d5::detail::fill;
using Request = inference::ModelInferRequest;
using Answer = inference::ModelInferResponse;

/// Tensors raw, or element by element.
const std::vector<Request>& sound() {
  static const std::vector<Request> requests = [] {
    std::vector<Request> all(2);
    fill(all[0], {"m",
                  "1",
                  "id",
                  {{"x", Tensor::vector<float>({1, -0.5F})},
                   {"s", Tensor::vector<std::string>({"", "two"})},
                   {"b", Tensor::vector<std::int8_t>({1, -128})}},
                  {"y"}});
    const auto input = [&](const char* name, const char* type, const auto& fill_contents) {
      auto& one = *all[1].add_inputs();
      one.set_name(name);
      one.set_datatype(type);
      one.add_shape(1);
      fill_contents(*one.mutable_contents());
    };
    input("small", "INT8", [](auto& contents) { contents.add_int_contents(-1); });
    input("large", "UINT64", [](auto& contents) { contents.add_uint64_contents(1); });
    input("real", "FP64", [](auto& contents) { contents.add_fp64_contents(0.5); });
    input("flag", "BOOL", [](auto& contents) { contents.add_bool_contents(true); });
    input("text", "BYTES", [](auto& contents) { contents.add_bytes_contents("t"); });
    return all;
  }();
  return requests;
}

/// The same fields of an answer.
Answer as_answer(const Request& request) {
  Answer answer;
  answer.set_model_name(request.model_name());
  for (const auto& input : request.inputs()) {
    answer.add_outputs()->ParseFromString(input.SerializeAsString());
  }
  for (const auto& raw : request.raw_input_contents()) answer.add_raw_output_contents(raw);
  return answer;
}

template <class Message, class Read>
std::string read_again(const Message& message, const Read& read) {
  Message once, twice;
  fill(once, read(message));
  fill(twice, read(once));
  return once.SerializeAsString() == twice.SerializeAsString() ? "" : "reads back otherwise";
}

}  // namespace

std::string name() { return "inference_message"; }

void prepare() {
  google::protobuf::SetLogHandler(
      nullptr);  // it tells of texts that are no UTF-8, which it refuses
  (void)sound();
}

std::string make_case(RandomStream& random) {
  Request request = pick(random, sound());
  change_fields(request, random);
  const std::string bytes = request.SerializeAsString();
  return one_in(random, 8) ? with_damage(bytes, random) : bytes;
}

std::string run_case(const std::string& bytes) {
  Request request;
  if (!request.ParseFromString(bytes)) throw FormatError("gRPC itself refuses it");
  std::string wrong = read_again(request, d5::detail::request_of);
  return wrong + read_again(as_answer(request), d5::detail::response_of);
}

}  // namespace d5::fuzz
