// SPDX-License-Identifier: Apache-2.0
#include "serving/api/kept_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/serving/jobs/job_queue.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/kept/kept_models.hpp"

namespace d5::detail {
namespace {

constexpr int kOk = 200, kCreated = 201, kConflict = 409, kTooLarge = 413;

/// Whether an evaluation with all that it names (`FixedEvaluation::canonical`) names the manifest.
bool names(const AnswerJson& evaluation, const std::string& kind, const std::string& name) {
  const auto all = evaluation.find(kind + "s");
  if (all == evaluation.end() || !all->is_array()) return false;
  return std::ranges::any_of(*all, [&](const AnswerJson& one) {
    return one.value("name", "") == name || one.value("reference", "").starts_with(name + "@");
  });
}

/// The job that needs a manifest, and is not over; empty if none does.
std::string user_of(JobQueue& queue, const std::string& kind, const std::string& name) {
  using enum JobState;
  std::string cursor;
  do {
    const JobPage page = queue.jobs({.states = {queued, leased, running}}, cursor);
    for (const Job& job : page.items) {
      const auto evaluation = AnswerJson::parse(queue.job(job.id).manifest, nullptr, false);
      if (evaluation.is_object() && names(evaluation, kind, name)) return job.id;
    }
    cursor = page.next;
  } while (!cursor.empty());
  return {};
}

HttpResponse in_use(const std::string& job, const std::string& name) {
  return HttpResponse::problem(
      kConflict,
      fmt::format("job {} uses {}; wait for its end, or cancel it", job, printable(name)));
}

/// A problem (RFC 9457) with the missing files as a member of its own.
HttpResponse missing_answer(const KeptModels::Answer& answer) {
  HttpResponse response = HttpResponse::problem(kConflict, answer.reason);
  AnswerJson body = AnswerJson::parse(response.body);
  body["missing"] = AnswerJson::array();
  for (const Asset& file : answer.files) {
    body["missing"].push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  response.body = body.dump();
  return response;
}

std::string kept_text(const AnswerJson& body) {
  const auto found = body.find("manifest");
  if (found == body.end() || !(found->is_string() || found->is_object())) {
    throw FormatError("'manifest' is missing: expected YAML as a text, or JSON");
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

KeptModels::Replace asked_replace(const AnswerJson& body) {
  const auto found = body.find("replace");
  if (found == body.end()) return KeptModels::Replace::no;
  if (!found->is_boolean()) throw FormatError("'replace': expected true or false");
  return found->get<bool>() ? KeptModels::Replace::yes : KeptModels::Replace::no;
}

}  // namespace

KeptModels& expect_kept(const ServingContext& context) {
  if (context.kept()) return *context.kept();
  throw Unsupported(
      "this server keeps no models of others; 'd5 serve --models DIR' starts one that does");
}

HttpResponse keep_answer(const std::string& kind, const HttpRequest& request,
                         ServingContext& context) {
  expect_query(request, {});
  KeptModels& kept = expect_kept(context);
  const AnswerJson body = asked_object(request);
  expect_members(body, {"manifest", "replace"});
  const auto replace = asked_replace(body);
  const std::string text = kept_text(body);
  if (replace == KeptModels::Replace::yes) {
    const std::string name = KeptModels::name_of(kind, text);
    const std::string job = user_of(context.jobs(), kind, name);
    if (!job.empty()) return in_use(job, name);
  }
  const KeptModels::Answer answer = kept.add(kind, text, replace);
  using enum KeptModels::Answer::What;
  switch (answer.what) {
    case missing:
      return missing_answer(answer);
    case conflict:
      return HttpResponse::problem(kConflict, answer.reason);
    case too_large:
      return HttpResponse::problem(kTooLarge, answer.reason);
    default:
      return json_answer({{"reference", answer.reference}, {"sha256", answer.sha256}},
                         answer.what == added ? kCreated : kOk);
  }
}

HttpResponse forget_answer(const std::string& kind, const HttpRequest& request,
                           ServingContext& context) {
  expect_query(request, {});
  KeptModels& kept = expect_kept(context);
  const std::string& word = request.parameter("name");
  const std::string name = word.substr(0, word.find('@'));
  if (kept.has(kind, name)) {
    const std::string job = user_of(context.jobs(), kind, name);
    if (!job.empty()) return in_use(job, name);
  }
  kept.remove(kind, word);
  return json_answer({{"removed", word}});
}

}  // namespace d5::detail
