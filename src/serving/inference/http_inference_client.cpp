// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/files/curl_handle.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/inference/inference_answer.hpp"
#include "serving/inference/inference_body.hpp"
#include "serving/inference/inference_clients.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostAnswerBytes = std::size_t{1} << 30;
constexpr long kPieceBytes = 1L << 19;  // transfer buffer; libcurl's default is small

struct Answer {
  std::string body;
  std::optional<std::size_t> head = {};  ///< bytes of JSON, if the server reports them
};

std::size_t receive_body(char* data, std::size_t size, std::size_t count, void* into) {
  std::string& body = static_cast<Answer*>(into)->body;
  if (size * count > kMostAnswerBytes - body.size()) return 0;  // ends the transfer
  body.append(data, size * count);
  return size * count;
}

std::size_t receive_header(char* data, std::size_t size, std::size_t count, void* into) {
  const std::string_view line(data, size * count);
  const auto colon = line.find(':');
  const std::string name(line.substr(0, colon));
  if (colon != std::string_view::npos && libcurl().strequal(name.c_str(), kHeadLength)) {
    const auto digits = line.find_first_not_of(" \t", colon + 1);
    std::size_t head = 0;
    if (digits != std::string_view::npos) {
      (void)std::from_chars(line.data() + digits, line.data() + line.size(), head);
    }
    static_cast<Answer*>(into)->head = head;
  }
  return line.size();
}

/// The words of `{"error": "..."}`; the beginning of any other body.
std::string words_of(const std::string& body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (parsed.is_object()) {
    for (const char* name : {"error", "detail"}) {
      const auto found = parsed.find(name);
      if (found != parsed.end() && found->is_string()) return found->get<std::string>();
    }
  }
  return body.substr(0, 200);
}

class HttpInferenceClient final : public InferenceClient {
 public:
  HttpInferenceClient(const InferenceAddress& address, const InferenceClientOptions& options)
      : address_(fmt::format("{}://{}", address.scheme, address.place)),
        options_(options),
        handle_(open_curl()) {}

  InferenceServerInfo server() override { return server_of_json(ask("/v2", nullptr).body); }
  InferenceModelInfo model(const std::string& name, const std::string& version) override {
    return model_of_json(ask(path_of(name, version), nullptr).body);
  }
  InferenceResponse infer(const InferenceRequest& request) override {
    const InferenceBody body = write_request(request);
    const Answer answer = ask(path_of(request.model, request.version) + "/infer", &body);
    return read_response(answer.body, answer.head.value_or(answer.body.size()));
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& model, const std::string& version) const {
    std::string path = "/v2/models/" + escaped(model);
    if (!version.empty()) path += "/versions/" + escaped(version);
    return path;
  }
  [[nodiscard]] std::string escaped(const std::string& text) const {
    const std::unique_ptr<char, decltype(&curl_free)> result(
        libcurl().easy_escape(handle_.get(), text.c_str(), int(text.size())), libcurl().free);
    return result ? result.get() : "";
  }
  Answer ask(const std::string& path, const InferenceBody* body);

  std::string address_;
  InferenceClientOptions options_;
  CurlHandle handle_;
};

/// Sends a request. The connection stays open between calls; only its options are reset.
Answer HttpInferenceClient::ask(const std::string& path, const InferenceBody* body) {
  CURL* curl = handle_.get();
  libcurl().easy_reset(curl);
  Answer answer;
  std::vector<std::string> lines;
  std::array<char, CURL_ERROR_SIZE> reason{};
  libcurl().easy_setopt(curl, CURLOPT_URL, (address_ + path).c_str());
  libcurl().easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
  libcurl().easy_setopt(curl, CURLOPT_NOPROXY, "*");  // what is measured is this server alone
  libcurl().easy_setopt(curl, CURLOPT_TIMEOUT_MS, long(options_.seconds * 1000));
  libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, kPieceBytes);
  libcurl().easy_setopt(curl, CURLOPT_BUFFERSIZE, kPieceBytes);
  libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_body);
  libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  libcurl().easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_header);
  libcurl().easy_setopt(curl, CURLOPT_HEADERDATA, &answer);
  if (!options_.token.empty()) lines.push_back("Authorization: Bearer " + options_.token);
  if (body) {
    lines.emplace_back("Content-Type: application/octet-stream");
    lines.emplace_back("Expect:");  // asks for no leave first, which takes a round trip
    lines.push_back(fmt::format("{}: {}", kHeadLength, body->head));
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body->bytes.size()));
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDS, body->bytes.data());
  }
  const CurlLines headers = curl_lines(lines);
  libcurl().easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  const CURLcode status = libcurl().easy_perform(curl);
  libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (status != CURLE_OK) {
    throw CommunicationError(fmt::format(
        "{}: {}", printable(address_),
        printable_message(reason[0] ? reason.data() : libcurl().easy_strerror(status))));
  }
  long code = 0;
  libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
  if (code != 200) {
    throw Error(fmt::format("{} says {}: {}", printable(address_), code,
                            printable_message(words_of(answer.body))));
  }
  return answer;
}

}  // namespace

std::unique_ptr<InferenceClient> http_inference_client(const InferenceAddress& address,
                                                       const InferenceClientOptions& options) {
  return std::make_unique<HttpInferenceClient>(address, options);
}

}  // namespace d5::detail
