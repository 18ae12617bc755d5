// SPDX-License-Identifier: Apache-2.0
#include "core/text/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kMostDepth = 6;
constexpr int kMostNodes = 1000;

/// Builds the tree while the file is parsed, so that its limits hold before anything has grown.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& file) : file_(file) {}
  YamlNode root;

  [[noreturn]] void fail(int line, const std::string& what) const {
    throw FormatError(fmt::format("{}:{}: {}", printable(file_), line, what));
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    OnScalar(mark, "", anchor, "");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark.line + 1, "aliases (*name) are not read here; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (wants_key()) {
      if (open_.back()->find(value)) {
        fail(mark.line + 1, fmt::format("key '{}' is given twice", printable(value)));
      }
      key_ = value;
      key_line_ = mark.line + 1;
      has_key_ = true;
      return;
    }
    YamlNode& node = add(mark);
    node.text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) fail(mark.line + 1, "anchors (&name) are not read here");
    if (tag.size() > 1) fail(mark.line + 1, "tags (!name) are not read here");
    if (++nodes_ > kMostNodes) {
      fail(mark.line + 1, fmt::format("holds more than {} values", kMostNodes));
    }
  }
  [[nodiscard]] bool wants_key() const {
    return !open_.empty() && open_.back()->is_map() && !has_key_;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (wants_key()) fail(mark.line + 1, "a map or a list cannot be a key");
    if (open_.size() >= kMostDepth) {
      fail(mark.line + 1, fmt::format("maps and lists are nested deeper than {}", kMostDepth));
    }
    YamlNode& node = add(mark);
    node.kind = kind;
    open_.push_back(&node);
  }
  /// A node's entries grow only while it is the innermost open one, so the pointers stay good.
  YamlNode& add(const YAML::Mark& mark) {
    const int line = has_key_ ? key_line_ : mark.line + 1;
    if (!open_.empty() && open_.back()->is_list()) {
      key_ = std::to_string(open_.back()->entries.size());
    }
    YamlNode& node =
        open_.empty() ? root : open_.back()->entries.emplace_back(key_, YamlNode{}).second;
    node.line = line;
    has_key_ = false;
    return node;
  }

  const std::string& file_;
  std::vector<YamlNode*> open_;
  std::string key_;
  int key_line_ = 0;
  bool has_key_ = false;
  int nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(const std::string& key) const {
  const auto entry = std::ranges::find(entries, key, &std::pair<std::string, YamlNode>::first);
  return entry == entries.end() ? nullptr : &entry->second;
}

YamlNode parse_yaml(const std::string& text, const std::string& file) {
  Builder builder(file);
  if (text.size() > kMostBytes) {
    builder.fail(1, fmt::format("the file has {} bytes, {} at most", text.size(), kMostBytes));
  }
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    Builder second(file);
    if (parser.HandleNextDocument(second)) {
      builder.fail(second.root.line, "a second document begins; expected one");
    }
  } catch (const YAML::Exception& error) {
    builder.fail(error.mark.line + 1, fmt::format("is not YAML: {}", printable(error.msg)));
  }
  return std::move(builder.root);
}

}  // namespace d5::detail
