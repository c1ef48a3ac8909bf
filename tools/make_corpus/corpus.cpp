#include "tools/make_corpus/corpus.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "tools/make_corpus/inflection.hpp"
#include "tools/make_corpus/lexicon.hpp"
#include "tools/make_corpus/random.hpp"
#include "tools/make_corpus/sentences.hpp"

namespace titan::corpus {

namespace {

constexpr std::uint64_t kSeed = 2024;
constexpr unsigned kHeadOfTopics = 2;

std::string paragraphs(Random& random, Writer& writer) {
  std::string text;
  // Now and then a document is several times as long as the others.
  const std::size_t count = random.chance(3) ? random.between(15, 30) : random.between(2, 6);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += "\n\n";
    text += writer.paragraph(random.between(2, 7));
  }
  return text;
}

std::string essay(Random& random, Writer& writer) {
  const bool titled = random.chance(50);
  return (titled ? capitalized(writer.phrase()) + "\n\n" : std::string()) + paragraphs(random, writer);
}

std::string list(Random& random, Writer& writer) {
  const bool numbered = random.chance(50);
  std::string text = writer.paragraph(2) + "\n";
  const std::size_t count = random.between(6, 16);
  for (std::size_t i = 1; i <= count; ++i) {
    text += '\n';
    text += numbered ? std::to_string(i).append(". ") : "- ";
    text += random.chance(40) ? writer.sentence() : writer.phrase();
  }
  return text + "\n\n" + writer.paragraph(random.between(1, 5));
}

std::string dialogue(Random& random, Writer& writer) {
  std::string text = writer.paragraph(random.between(1, 4));
  const std::size_t count = random.between(4, 14);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& speaker = i % 2 == 0 ? writer.person() : writer.other_person();
    const std::string line = random.chance(30) ? writer.question() : writer.sentence();
    text += "\n\n" + speaker + ": " + line;
  }
  return text;
}

std::string questions(Random& random, Writer& writer) {
  std::string text;
  const std::size_t count = random.between(3, 9);
  for (std::size_t i = 0; i < count; ++i) {
    text += "Q: " + writer.question() + "\nA: " + writer.paragraph(random.between(1, 3)) + "\n\n";
  }
  return text + writer.sentence();
}

std::string glossary(Random& random, Writer& writer, const Topic& topic) {
  std::string text = "Words of " + std::string(topic.name) + "\n\n";
  const std::size_t count = random.between(50, 90);
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + writer.word();
  return text;
}

std::string letter(Random& random, Writer& writer) {
  return "Dear " + writer.other_person() + ",\n\n" + paragraphs(random, writer) + "\n\nYours,\n" + writer.person();
}

std::string document(Random& random) {
  const Topic& topic = topics()[random.rank(topics().size(), kHeadOfTopics)];
  Writer writer(random, topic);
  const std::size_t kind = random.below(100);
  if (kind < 3) return glossary(random, writer, topic);
  if (kind < 64) return essay(random, writer);
  if (kind < 74) return list(random, writer);
  if (kind < 84) return dialogue(random, writer);
  return kind < 92 ? questions(random, writer) : letter(random, writer);
}

}  // namespace

std::string make_corpus() {
  Random random(kSeed);
  std::string lines;
  for (std::size_t i = 0; i < kNumDocuments; ++i) {
    lines += nlohmann::json{{"text", document(random)}}.dump();
    lines += '\n';
  }
  return lines;
}

}  // namespace titan::corpus
