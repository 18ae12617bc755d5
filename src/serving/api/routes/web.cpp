// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <fmt/format.h>
#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/serving/api/route.hpp"

namespace d5::route {
namespace {

constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
constexpr const char* kNoPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>d5</title><p>This d5 was "
    "built "
    "without its page, which takes Node.js. Its interface is described at <a "
    "href=\"/v1/openapi.json\">/v1/openapi.json</a>.</p></html>\n";

std::string type_of(const std::string& file) {
  constexpr std::pair<const char*, const char*> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".json", "application/json"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".txt", "text/plain; charset=utf-8"},
      {".woff2", "font/woff2"},
      {".map", "application/json"}};
  const auto found =
      std::ranges::find_if(kTypes, [&](const auto& type) { return file.ends_with(type.first); });
  return found == std::end(kTypes) ? "application/octet-stream" : found->second;
}

/// Whether a path stays within the folder and names a file of the page.
bool is_within(const std::vector<std::string>& segments) {
  return std::ranges::none_of(segments, [](const std::string& part) {
    return part.starts_with('.') || part.find_first_of("/\\") != std::string::npos;
  });
}

std::string folder_of_page() {
  try {
    return carried_file("web");
  } catch (const NotFound&) {
    return {};
  }
}

HttpResponse answer_file(const HttpRequest& request, ServingContext&) {
  constexpr int kNotFound = 404, kNotModified = 304;
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::string folder = folder_of_page();
  const bool is_front = request.path == "/";
  if (folder.empty() && is_front) {
    return {.headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = kNoPage};
  }
  std::string file = folder + (is_front ? "/index.html" : request.path);
  const std::string type = type_of(file);
  struct stat found{};
  if (folder.empty() || !is_within(request.segments) || ::stat(file.c_str(), &found) != 0 ||
      !S_ISREG(found.st_mode)) {
    return HttpResponse::problem(kNotFound,
                                 fmt::format("there is no '{}' here", printable(request.path)));
  }
  // Files that were compressed at the page's build are sent compressed.
  struct stat packed{};
  const bool is_packed = request.headers.at("accept-encoding").find("gzip") != std::string::npos &&
                         ::stat((file + ".gz").c_str(), &packed) == 0;
  if (is_packed) {
    file += ".gz";
    found = packed;
  }
  const std::string tag =
      fmt::format("\"{:x}-{:x}.{:x}\"", found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
  // The policy is also sent with a 304, whose headers replace the browser's cached ones.
  HttpResponse answer{.headers = {{"Cache-Control", "no-cache"},
                                  {"ETag", tag},
                                  {"Vary", "Accept-Encoding"},
                                  {"Content-Security-Policy", kPagePolicy}}};
  if (request.headers.at("if-none-match") == tag) {
    answer.status = kNotModified;
    return answer;
  }
  answer.headers.add("Content-Type", type);
  if (is_packed) answer.headers.add("Content-Encoding", "gzip");
  answer.body = read_file(file, kMostBytes);
  return answer;
}

}  // namespace

void register_web(Registry<RouteEntry>& registry) {
  registry.add("GET /{file...}",
               {.summary = "the page", .role = ServingRole::anyone, .answer = answer_file});
}

}  // namespace d5::route
