// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/python/python_worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/files/send_all.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

/// What it prints goes to stderr: its standard output is the socket.
constexpr const char* kProgram = R"(
import importlib.util, json, os, sys
import numpy
asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
spec = importlib.util.spec_from_file_location("own_step", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function, form = getattr(module, sys.argv[2]), sys.argv[3]

def taken(head, body):
    if head["dtype"] == "string":
        return numpy.array(json.loads(body), object).reshape(head["shape"])
    return numpy.frombuffer(body, head["dtype"]).reshape(head["shape"]).copy()

def given(name, value):
    array = numpy.asarray(value, order="C")
    dtype, body = str(array.dtype), array.tobytes()
    if array.dtype.kind in "UO":
        words = array.reshape(-1).tolist()
        if not all(isinstance(word, str) for word in words):
            raise TypeError(f"it returned {array.dtype}, expected numbers or text")
        dtype, body = "string", json.dumps(words).encode()
    return {"name": name, "dtype": dtype, "shape": array.shape, "bytes": len(body)}, body

def called(arrays):
    if form == "array":
        return {"": function(arrays[""])}
    values = function(arrays)
    if not isinstance(values, dict):
        raise TypeError(f"it returned {type(values).__name__}, expected a dict of arrays by name")
    return values

while line := asked.readline():
    heads = json.loads(line)
    bodies = [asked.read(head["bytes"]) for head in heads]
    try:
        arrays = {head["name"]: taken(head, body) for head, body in zip(heads, bodies)}
        parts = [given(name, value) for name, value in called(arrays).items()]
        reply, bodies = {"arrays": [head for head, body in parts]}, [body for head, body in parts]
    except Exception as error:
        reply, bodies = {"error": f"{type(error).__name__}: {error}"}, []
    told.write(json.dumps(reply).encode() + b"\n" + b"".join(bodies))
    told.flush()
)";

constexpr std::size_t kLongestHead = 1 << 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

/// The bytes of a tensor on their way; text is JSON.
std::string sent_bytes(const Tensor& tensor) {
  if (tensor.dtype() != DType::string) {
    return {static_cast<const char*>(tensor.raw()), tensor.bytes()};
  }
  const auto words = tensor.span<std::string>();
  return json(std::vector<std::string>(words.begin(), words.end()))
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Throws: FormatError if the bytes are not those of the shape.
Tensor returned_tensor(const TensorDesc& desc, const std::string& bytes, const std::string& who) {
  std::size_t count = 0;
  std::vector<std::string> words;
  if (desc.dtype == DType::string) {
    words = json::parse(bytes).get<std::vector<std::string>>();
    count = words.size();
  } else {
    count = bytes.size() / size_of(desc.dtype);
  }
  if (!desc.shape.is_static() || std::int64_t(count) != desc.shape.elements()) {
    throw FormatError(fmt::format("{}: returned {} elements of {}", who, count, to_string(desc)));
  }
  if (desc.dtype == DType::string) {
    return Tensor::of<std::string>(desc.shape, std::span<const std::string>(words));
  }
  Tensor tensor = Tensor::empty(desc);
  if (!bytes.empty()) std::memcpy(tensor.raw(), bytes.data(), tensor.bytes());
  return tensor;
}

}  // namespace

PythonFunction PythonFunction::of(const std::string& word, Form form, double seconds) {
  const std::size_t colons = word.rfind("::");
  if (colons == std::string::npos || colons == 0 || colons + 2 == word.size()) {
    throw ValueError(
        fmt::format("step python: function '{}', expected FILE.py::NAME", printable(word)));
  }
  return {.file = word.substr(0, colons),
          .name = word.substr(colons + 2),
          .form = form,
          .seconds = seconds};
}

std::string PythonWorker::who() const {
  return fmt::format("{}::{}", printable(function_.file), printable(function_.name));
}

void PythonWorker::begin() {
  DescriptorPair sockets = make_socket_pair(SOCK_STREAM);
  const char* form = function_.form == PythonFunction::Form::array ? "array" : "values";
  try {
    // The process must not end with the thread of the first call, because other threads outlive it.
    // It ends when its socket is closed, at the latest by the end of this process.
    process_.emplace(
        Program{.words = {"python3", "-c", kProgram, function_.file, function_.name, form},
                .input = sockets.there.get(),
                .output = sockets.there.get(),
                .error = STDERR_FILENO});
  } catch (const IoError& error) {
    throw IoError(fmt::format("step {}: {}", who(), error.what()));
  }
  socket_ = std::move(sockets.here);
}

void PythonWorker::end() {
  socket_.close();
  received_.clear();
  process_.reset();
}

void PythonWorker::receive(std::string& bytes, double deadline) {
  std::array<char, 1 << 16> some{};
  for (;;) {
    const double left = deadline - now_seconds();
    if (left <= 0) {
      throw FormatError(fmt::format("{}: no answer within {} s", who(), function_.seconds));
    }
    pollfd waiting{socket_.get(), POLLIN, 0};
    constexpr double kMs = 1000;
    if (poll(&waiting, 1, int(std::min(left, 3600.0) * kMs) + 1) <= 0) continue;
    const ssize_t count = read(socket_.get(), some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw FormatError(
          fmt::format("{}: its process ended (what it says stands on stderr)", who()));
    }
    bytes.append(some.data(), std::size_t(count));
    return;
  }
}

std::string PythonWorker::receive_line(double deadline) {
  std::size_t end = 0;
  while ((end = received_.find('\n')) == std::string::npos) {
    if (received_.size() > kLongestHead) throw FormatError(who() + ": no answer of ours");
    receive(received_, deadline);
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

std::string PythonWorker::receive_bytes(std::size_t count, double deadline) {
  while (received_.size() < count) receive(received_, deadline);
  std::string bytes = received_.substr(0, count);
  received_.erase(0, count);
  return bytes;
}

void PythonWorker::ask(const ValueMap& values) {
  json heads = json::array();
  std::string bodies;
  for (const auto& [name, value] : values) {
    const Tensor& tensor = value.tensor();
    const std::string body = sent_bytes(tensor);
    const auto dims = tensor.shape().dims();
    heads.push_back({{"name", name},
                     {"dtype", std::string(name_of(tensor.dtype()))},
                     {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                     {"bytes", body.size()}});
    bodies += body;
  }
  // If it ended, there will be no answer.
  if (send_all(socket_.get(), heads.dump() + "\n")) (void)send_all(socket_.get(), bodies);
}

ValueMap PythonWorker::answer(double deadline) {
  const json reply = json::parse(receive_line(deadline));
  if (reply.contains("error")) {
    throw FormatError(fmt::format("{}: {}", who(), printable(reply["error"].get<std::string>())));
  }
  ValueMap values;
  for (const json& head : reply.at("arrays")) {
    const auto size = head.at("bytes").get<std::size_t>();
    if (size > kMostBytes) throw FormatError(fmt::format("{}: {} bytes are too many", who(), size));
    const std::string bytes = receive_bytes(size, deadline);
    values[head.at("name").get<std::string>()] =
        returned_tensor({dtype_from_name(head.at("dtype").get<std::string>()),
                         Shape(head.at("shape").get<std::vector<std::int64_t>>())},
                        bytes, who());
  }
  return values;
}

ValueMap PythonWorker::call(const ValueMap& values) {
  if (!process_) begin();
  try {
    ask(values);
    return answer(now_seconds() + function_.seconds);
  } catch (const json::exception& error) {
    end();
    throw FormatError(fmt::format("{}: {}", who(), error.what()));
  } catch (const Error&) {
    // The function's own exception may leave the process in a bad state; the next call starts a new
    // one.
    end();
    throw;
  }
}

ValueMap PythonWorkers::call(const ValueMap& values) {
  std::unique_ptr<PythonWorker> worker;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!worker) worker = std::make_unique<PythonWorker>(function_);
  // A call that throws leaves its worker out, whose process has ended.
  ValueMap result = worker->call(values);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
  return result;
}

}  // namespace d5::detail
