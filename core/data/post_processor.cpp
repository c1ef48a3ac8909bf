#include "core/data/post_processor.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "core/data/token_table.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kMaxAddedIds = 64;

/// Appends the ids that the template's special token `name` stands for.
void append_ids(const JsonField& section, const JsonField& piece, std::vector<std::int64_t>& out) {
  const std::string& name = piece.at("id").text();
  const JsonField tokens = section.at("special_tokens");
  if (!tokens.has(name)) piece.fail("not among special_tokens: \"", printable(name), '"');
  for (const JsonField& id : tokens.at(name).at("ids").items()) out.push_back(id.integer(0, kMaxTokenId));
  if (out.size() > kMaxAddedIds) piece.fail("the template adds too many tokens: limit ", kMaxAddedIds);
}

PostProcessor read_template(const JsonField& section) {
  PostProcessor result;
  bool seen_text = false;
  const JsonField single = section.at("single");
  for (const JsonField& piece : single.items()) {
    if (piece.has("SpecialToken")) {
      append_ids(section, piece.at("SpecialToken"), seen_text ? result.suffix : result.prefix);
      continue;
    }
    const std::string& id = piece.at("Sequence").at("id").text();
    if (id != "A" || seen_text) piece.fail("a template for a single text must name the sequence A once");
    seen_text = true;
  }
  if (!seen_text) single.fail("a template for a single text must name the sequence A once");
  return result;
}

/// Puts `outer` around `inner`.
PostProcessor wrap(PostProcessor inner, PostProcessor outer) {
  outer.prefix.insert(outer.prefix.end(), inner.prefix.begin(), inner.prefix.end());
  inner.suffix.insert(inner.suffix.end(), outer.suffix.begin(), outer.suffix.end());
  return {std::move(outer.prefix), std::move(inner.suffix)};
}

}  // namespace

PostProcessor PostProcessor::parse(const JsonField& section) {
  const std::string& type = section.at("type").text();
  if (type == "ByteLevel") return {};  // concerns offsets alone
  if (type == "TemplateProcessing") return read_template(section);
  if (type != "Sequence") {
    section.fail("post-processor not supported: ", printable(type),
                 " (supported: ByteLevel, TemplateProcessing, Sequence)");
  }
  PostProcessor result;
  for (const JsonField& item : section.at("processors").items()) result = wrap(std::move(result), parse(item));
  return result;
}

}  // namespace titan::data
