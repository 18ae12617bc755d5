// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/python_worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/files/send_all.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// What it prints goes to stderr: its standard output is the socket.
constexpr const char* kProgram = R"(
import importlib.util, json, os, sys
import numpy
asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
spec = importlib.util.spec_from_file_location("own_step", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
function = getattr(module, sys.argv[2])
while line := asked.readline():
    head = json.loads(line)
    data = asked.read(head["bytes"])
    try:
        array = numpy.frombuffer(data, head["dtype"]).reshape(head["shape"]).copy()
        result = numpy.ascontiguousarray(function(array))
        reply, body = {"dtype": str(result.dtype), "shape": result.shape}, result.tobytes()
    except Exception as error:
        reply, body = {"error": f"{type(error).__name__}: {error}"}, b""
    told.write(json.dumps({**reply, "bytes": len(body)}).encode() + b"\n" + body)
    told.flush()
)";

constexpr std::size_t kLongestHead = 1 << 16;
constexpr std::size_t kMostBytes = std::size_t{1} << 31;

}  // namespace

std::string PythonWorker::who() const {
  return fmt::format("{}::{}", printable(file_), printable(function_));
}

void PythonWorker::begin() {
  DescriptorPair sockets = make_socket_pair(SOCK_STREAM);
  try {
    // The process must not end with the thread of the first call, because other threads outlive it.
    // It ends when its socket is closed, at the latest by the end of this process.
    process_.emplace(Program{.words = {"python3", "-c", kProgram, file_, function_},
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
      throw FormatError(fmt::format("{}: no answer within {} s", who(), seconds_));
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

PythonArray PythonWorker::call(DType dtype, const std::vector<std::int64_t>& dims,
                               std::string_view bytes) {
  using nlohmann::json;
  if (!process_) begin();
  try {
    const double deadline = now_seconds() + seconds_;
    const json head{
        {"dtype", std::string(name_of(dtype))}, {"shape", dims}, {"bytes", bytes.size()}};
    // If it ended, there will be no answer.
    if (send_all(socket_.get(), head.dump() + "\n")) (void)send_all(socket_.get(), bytes);
    const json reply = json::parse(receive_line(deadline));
    const auto size = reply.at("bytes").get<std::size_t>();
    if (size > kMostBytes) throw FormatError(fmt::format("{}: {} bytes are too many", who(), size));
    PythonArray array;
    array.bytes = receive_bytes(size, deadline);
    if (reply.contains("error")) {
      throw FormatError(fmt::format("{}: {}", who(), printable(reply["error"].get<std::string>())));
    }
    array.dtype = dtype_from_name(reply.at("dtype").get<std::string>());
    array.dims = reply.at("shape").get<std::vector<std::int64_t>>();
    return array;
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

}  // namespace d5::detail
