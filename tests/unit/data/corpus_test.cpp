#include "core/data/corpus.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/gzip_content.hpp"

namespace titan::data {
namespace {

using Texts = std::vector<std::string>;

Texts texts(Corpus& corpus) {
  Texts result;
  for (std::uint64_t i = 0; i < corpus.num_documents(); ++i) result.push_back(corpus.read(i));
  return result;
}

Texts texts(const std::filesystem::path& path) {
  Corpus corpus(path);
  return texts(corpus);
}

class CorpusTest : public ::testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

TEST_F(CorpusTest, ReadsLines) {
  const auto file = folder_.write(
      "a.jsonl", "\xEF\xBB\xBF{\"text\":\"one\"}\r\n\n   \n{\"text\":\"two\"}\n{\"id\":3,\"text\":\"three\"}");
  EXPECT_EQ(texts(file), (Texts{"one", "two", "three"}));
}

TEST_F(CorpusTest, AFileOfTextIsOneDocument) {
  EXPECT_EQ(texts(folder_.write("a.txt", "\xEF\xBB\xBFline\r\n\r\nline\n")), Texts{"line\r\n\r\nline\n"});
}

TEST_F(CorpusTest, ReadsFoldersInOrder) {
  folder_.write("b.jsonl.gz", testing::gzip_content("{\"text\":\"3\"}\n{\"text\":\"4\"}\n"));
  folder_.write("a.jsonl", "{\"text\":\"1\"}\n{\"text\":\"2\"}\n");
  folder_.write("aa.jsonl", "\n");
  folder_.write("c.txt", "5");
  folder_.write("d.txt", "");
  Corpus corpus(folder_.path());
  EXPECT_EQ(corpus.num_files(), 5U);
  EXPECT_EQ(texts(corpus), (Texts{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(corpus.read(2), "3");
}

TEST_F(CorpusTest, ReadsMoreFilesThanItKeepsOpen) {
  Texts expected;
  for (int i = 0; i < 150; ++i) {
    expected.push_back(std::to_string(1000 + i));
    folder_.write(expected.back() + ".txt", expected.back());
  }
  Corpus corpus(folder_.path());
  EXPECT_EQ(texts(corpus), expected);
  EXPECT_EQ(texts(corpus), expected);
}

TEST_F(CorpusTest, FingerprintIsThatOfTheText) {
  const std::string content = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
  const auto fingerprint = [&](const std::string& name, const std::string& bytes) {
    return Corpus(folder_.write(name, bytes)).fingerprint();
  };
  const std::string plain = fingerprint("x.jsonl", content);
  EXPECT_EQ(plain.size(), 32U);
  EXPECT_EQ(fingerprint("y.jsonl", content), plain);
  EXPECT_EQ(fingerprint("x.jsonl.gz", testing::gzip_content(content)), plain);
  EXPECT_NE(fingerprint("z.jsonl", content + "\n"), plain);
}

TEST_F(CorpusTest, NamesFileAndLineOfBrokenLines) {
  const std::string content = "{\"text\":\"a\"}\n\n{\"text\": 7}\n{\"text\":\"b\"";
  for (const bool compressed : {false, true}) {
    const auto file =
        compressed ? folder_.write("x.jsonl.gz", testing::gzip_content(content)) : folder_.write("x.jsonl", content);
    Corpus corpus(file);
    EXPECT_EQ(corpus.read(0), "a");
    EXPECT_EQ(testing::error_text<DataError>([&] { corpus.read(1); }),
              "[data] " + file.string() + ":3: \"text\" is not a string: found a number");
    EXPECT_NE(testing::error_text<DataError>([&] { corpus.read(2); }).find(file.string() + ":4: column 12"),
              std::string::npos);
  }
}

TEST_F(CorpusTest, RefusesTextThatIsNotUtf8) {
  const auto file = folder_.write("x.txt",
                                  "\xEF\xBB\xBF"
                                  "ab\xC3");
  Corpus corpus(file);
  EXPECT_NE(testing::error_text<DataError>([&] { corpus.read(0); }).find("not UTF-8: at byte 5"), std::string::npos);
}

TEST_F(CorpusTest, RefusesEmptyDataSets) {
  const auto refusal = [](const std::filesystem::path& path) {
    return testing::error_text<InputError>([&] { Corpus corpus(path); });
  };
  EXPECT_NE(refusal(folder_.write("x.jsonl", "")).find("no document"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("x.jsonl", "\n \n")).find("no document"), std::string::npos);
  EXPECT_NE(refusal(folder_.path()).find("no document"), std::string::npos);
  EXPECT_THROW(Corpus(folder_.path() / "none.jsonl"), InputError);
}

TEST_F(CorpusTest, KeepsItsLimits) {
  const std::string line = "{\"text\":\"" + std::string(200, 'x') + "\"}\n";
  const CorpusLimits small{.document_bytes = 100, .decompressed_bytes = 1000};
  EXPECT_NE(testing::error_text<DataError>([&] {
              Corpus(folder_.write("a.jsonl", "{}\n" + line), nullptr, small);
            }).find("a.jsonl:2: document too long: limit 100 bytes"),
            std::string::npos);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "{\"text\":\"" + std::to_string(i) + "\"}\n";
  const auto compressed = folder_.write("b.jsonl.gz", testing::gzip_content(many));
  EXPECT_NE(testing::error_text<DataError>([&] { Corpus(compressed, nullptr, small); }).find("decompress them"),
            std::string::npos);
}

TEST_F(CorpusTest, NoticesAFileThatBecameShorter) {
  const auto file = folder_.write("a.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
  Corpus corpus(file);
  std::filesystem::resize_file(file, 20);
  EXPECT_EQ(corpus.read(0), "one");
  EXPECT_NE(testing::error_text<DataError>([&] { corpus.read(1); }).find("became shorter"), std::string::npos);
}

TEST_F(CorpusTest, NoticesAFileThatWentAway) {
  const auto file = folder_.write("a.jsonl", "{\"text\":\"one\"}\n");
  Corpus corpus(file);
  std::filesystem::remove(file);
  EXPECT_THROW(corpus.read(0), InputError);
}

TEST_F(CorpusTest, StopsWhenAsked) {
  StopFlag stop;
  stop.request(2);
  const auto file = folder_.write("a.jsonl", "{\"text\":\"one\"}\n");
  EXPECT_THROW(Corpus(file, &stop), Interrupted);
}

}  // namespace
}  // namespace titan::data
