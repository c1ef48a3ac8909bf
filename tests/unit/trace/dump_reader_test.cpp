#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/trace/dump_verdict.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/trace/dumps.hpp"

namespace titan::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using titan::testing::error_text;
using titan::testing::pickled;

std::string error_of(const Json& json) {
  Dumps dumps;
  return error_text<DataError>([&] { read_dump(pickled(json), 0, "there/rank_0", dumps); });
}

TEST(DumpReaderTest, ReadsWhatPyTorchWrites) {
  TITAN_REQUIRE_VECTORS("debug_samples");
  const Dumps dumps = read_dumps(testing::vectors_dir() / "debug_samples/fr_nccl_style", std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(2));
  const Dump& dump = dumps.ranks[0];
  EXPECT_EQ(dump.rank, 0);
  EXPECT_EQ(dump.version, "2.10");
  EXPECT_TRUE(dump.is_whole);
  ASSERT_THAT(dump.groups, SizeIs(1));
  EXPECT_EQ(dump.groups[0].description, "default_pg");
  EXPECT_THAT(dump.groups[0].ranks, ElementsAre(0, 1));
  ASSERT_THAT(dump.calls, SizeIs(4));
  const Call& last = dump.calls[3];
  EXPECT_EQ(dumps.text(last.op), "all_reduce");
  EXPECT_EQ(dumps.text(last.input), "float32 [7]");
  EXPECT_EQ(dumps.text(last.place), "worker at gen_debug_samples.py:32");
  EXPECT_EQ(last.sequence, 4);
  EXPECT_FALSE(last.is_done);
  EXPECT_TRUE(dump.calls[2].is_done);
}

TEST(DumpReaderTest, ReadsGlooWhoseGroupHasNoNameAndWhoseCallsNeverComplete) {
  TITAN_REQUIRE_VECTORS("debug_samples");
  const Dumps dumps = read_dumps(testing::vectors_dir() / "debug_samples/fr_gloo_raw", std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(2));
  ASSERT_THAT(dumps.ranks[0].groups, SizeIs(1));
  EXPECT_EQ(dumps.ranks[0].groups[0].name, "0");
  EXPECT_EQ(dumps.ranks[0].groups[0].description, "default_pg");
  EXPECT_THAT(dumps.ranks[0].groups[0].ranks, ElementsAre(0, 1));
  EXPECT_TRUE(dumps.ranks[0].calls[2].is_done);
  EXPECT_FALSE(dumps.ranks[0].calls[3].is_done);
}

TEST(DumpReaderTest, ReadsWhatTitanAdds) {
  const Dumps dumps = dumps_of({dump({call("all_reduce", 1, "completed")}, "step 3, backward, in layers.2")});
  ASSERT_TRUE(dumps.ranks[0].facts);
  EXPECT_EQ(dumps.ranks[0].facts->place, "step 3, backward, in layers.2");
  EXPECT_EQ(dumps.ranks[0].facts->world_size, 2);
  EXPECT_EQ(dumps.text(dumps.ranks[0].calls[0].module), "layers.1");
}

TEST(DumpReaderTest, SendsAndReceivesNameTheirRanks) {
  const Dumps dumps = dumps_of({dump({call("send 0->1", 1, "completed"), call("recv 0<-1", 1, "started")})});
  const Call& send = dumps.ranks[0].calls[0];
  EXPECT_TRUE(send.is_p2p);
  EXPECT_EQ(send.source, 0);
  EXPECT_EQ(send.target, 1);
  const Call& receive = dumps.ranks[0].calls[1];
  EXPECT_EQ(receive.source, 1);
  EXPECT_EQ(receive.target, 0);
}

/// A value without the frame of a pickle, and without a memo.
std::string body(const Json& json) {
  const auto number = [](std::size_t value) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFFU);
    return bytes;
  };
  if (json.is_string()) return "X" + number(json.get<std::string>().size()) + json.get<std::string>();
  if (json.is_number()) return "J" + number(json.get<std::size_t>());
  if (json.is_boolean()) return json.get<bool>() ? "\x88" : "\x89";
  std::string bytes = json.is_object() ? "}(" : "](";
  for (const auto& [key, item] : json.items()) bytes += (json.is_object() ? body(key) : "") + body(item);
  return bytes + (json.is_object() ? "u" : "e");
}

/// The value, and more of the same, at two bytes each.
std::string again_and_again(const std::string& before, const std::string& value, const std::string& between) {
  std::string bytes = value + std::string("q\0", 2);
  for (int i = 0; i < 1000; ++i) bytes += between + std::string("h\0", 2);
  return before + bytes;
}

TEST(DumpReaderTest, OneEntryIsNotReadAgainAndAgain) {
  const auto error = [](const std::string& bytes) {
    Dumps dumps;
    return error_text<DataError>([&] { read_dump("\x80\x02}(" + bytes + "u.", 0, "rank_0", dumps); });
  };
  const std::string version = body("version") + body("2.10"), groups = body("pg_config"), entries = body("entries");
  const std::string entry = body(call("all_reduce", 1, "completed"));
  EXPECT_THAT(error(version + groups + "}" + entries + again_and_again("](", entry, "") + "e"),
              HasSubstr("more entries than its bytes can tell"));
  std::string ranks = "0";
  for (int rank = 1; rank < 5000; ++rank) ranks += "," + std::to_string(rank);
  const std::string group = body(Json{{"ranks", ranks}});
  EXPECT_THAT(error(version + entries + "]" + groups + again_and_again("}(" + body("a"), group, body("a")) + "u"),
              HasSubstr("too many groups"));
}

TEST(DumpReaderTest, WhatIsNoDumpIsRefusedByName) {
  EXPECT_THAT(error_of(Json::array()),
              AllOf(HasSubstr("[trace] no flight-recorder dump: there/rank_0: "), HasSubstr("its root is no dict")));
  EXPECT_THAT(error_of(Json::object()), HasSubstr("it has no version"));
  EXPECT_THAT(error_of({{"version", 3}}), HasSubstr("no text: version"));
  EXPECT_THAT(error_of({{"version", "2.10"}}), HasSubstr("it has no pg_config"));
  EXPECT_THAT(error_of(dump({1})), HasSubstr("an entry is no dict"));
  EXPECT_THAT(error_of(dump({call("all_reduce", 1, "completed")}, "", {{"fsdp", "[1, 1]"}})),
              HasSubstr("no list of ranks"));
  EXPECT_THAT(error_of(dump({call("all_reduce", 1, "completed")}, "", {{"fsdp", "[x]"}})),
              HasSubstr("no list of ranks"));
  Json json = dump({call("all_reduce", 1, "completed")});
  json["entries"][0].erase("state");
  EXPECT_THAT(error_of(json), HasSubstr("it has no state"));
  json["entries"][0]["process_group"] = "fsdp";
  EXPECT_THAT(error_of(json), HasSubstr("no pair of texts"));
  Dumps dumps;
  EXPECT_THAT(error_text<DataError>([&] { read_dump("junk", 0, "there/rank_0", dumps); }), HasSubstr("there/rank_0"));
}

TEST(DumpFolderTest, FindsTheFolderOfARunAndItsOwnPrefix) {
  const test::TemporaryFolder folder;
  folder.write("comm_traces/rank_0", pickled(dump({call("all_reduce", 1, "completed")})));
  folder.write("comm_traces/rank_10", pickled(dump({call("all_reduce", 1, "completed")})));
  folder.write("comm_traces/other_1", "junk");
  folder.write("comm_traces/.rank_2", "junk");
  folder.write("comm_traces/README", "junk");
  const Dumps dumps = read_dumps(folder.path(), std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(2));
  EXPECT_EQ(dumps.ranks[1].rank, 10);
  EXPECT_THAT(dumps.unreadable, IsEmpty());
}

TEST(DumpFolderTest, AFileThatIsNoDumpDoesNotHideTheOthers) {
  const test::TemporaryFolder folder;
  folder.write("rank_0", pickled(dump({call("all_reduce", 1, "completed")})));
  folder.write("rank_1", "\x80\x02");
  const Dumps dumps = read_dumps(folder.path(), std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(1));
  ASSERT_THAT(dumps.unreadable, SizeIs(1));
  EXPECT_EQ(dumps.unreadable[0].rank, 1);
  EXPECT_THAT(dumps.unreadable[0].reason, HasSubstr("rank_1: it ends too early"));
}

TEST(DumpFolderTest, ACopyOfAnotherRanksDumpIsNotComparedWithItself) {
  const test::TemporaryFolder folder;
  const std::string bytes = pickled(dump({call("all_reduce", 1, "completed")}, "step 3"));
  folder.write("rank_0", bytes);
  folder.write("rank_1", bytes);
  const Dumps dumps = read_dumps(folder.path(), std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(1));
  ASSERT_THAT(dumps.unreadable, SizeIs(1));
  EXPECT_FALSE(dumps.unreadable[0].is_closed);
  const std::string text = verdict(dumps, analyse(dumps));
  EXPECT_THAT(text, AllOf(HasSubstr("not known: what rank 1 did"),
                          HasSubstr("a dump of rank 0 is named as one of rank 1: "), HasSubstr("rank_1")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("there is no dump")));
}

TEST(DumpFolderTest, WhatALargerRunLeftIsSetAside) {
  const test::TemporaryFolder folder;
  Json of_before = dump({call("all_reduce", 1, "started")}, "step 3");
  of_before["titan"]["world_size"] = 8;
  folder.write("rank_0", pickled(dump({call("all_reduce", 2, "started")}, "step 9")));
  for (const int rank : {1, 5}) {
    of_before["titan"]["rank"] = rank;
    folder.write("rank_" + std::to_string(rank), pickled(of_before));
  }
  const Dumps dumps = read_dumps(folder.path(), std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(1));
  EXPECT_THAT(dumps.others, SizeIs(2));
  const Analysis analysis = analyse(dumps);
  EXPECT_EQ(analysis.world_size, 2);
  EXPECT_THAT(verdict(dumps, analysis),
              AllOf(HasSubstr("rank 1 left no dump"), HasSubstr("left out: the dumps of ranks 1, 5, of another run")));
}

TEST(DumpFolderTest, WhatWasAskedForBeforeOthersFailedIsSetAside) {
  const test::TemporaryFolder folder;
  const Json failed = dump({call("all_reduce", 1, "completed"), call("all_reduce", 2, "started")}, "step 9");
  Json asked = dump({call("all_reduce", 1, "completed")}, "step 3");
  asked["titan"]["cause"] = "request";
  folder.write("rank_0", pickled(failed));
  asked["titan"]["rank"] = 1;
  folder.write("rank_1", pickled(asked));
  const Dumps dumps = read_dumps(folder.path(), std::nullopt);
  ASSERT_THAT(dumps.ranks, SizeIs(1));
  ASSERT_THAT(dumps.older, SizeIs(1));
  EXPECT_EQ(dumps.older[0].rank, 1);
  const std::string text = verdict(dumps, analyse(dumps));
  EXPECT_THAT(text, HasSubstr("nothing is known of rank 1\n"));
  EXPECT_THAT(text, HasSubstr("rank 1 left an older dump alone, asked for before, when it was at step 3\n"));

  asked["titan"]["rank"] = 0;
  folder.write("rank_0", pickled(asked));
  EXPECT_THAT(read_dumps(folder.path(), std::nullopt).ranks, SizeIs(2));
}

TEST(DumpFolderTest, WhatCannotBeChosenIsAskedFor) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(error_text<InputError>([&] { read_dumps(folder / "absent", std::nullopt); }),
              HasSubstr("no such folder"));
  EXPECT_THAT(error_text<InputError>([&] { read_dumps(folder.path(), std::nullopt); }),
              HasSubstr("no dumps in folder"));
  folder.write("a_0", "x");
  folder.write("b_0", "x");
  EXPECT_THAT(error_text<UsageError>([&] { read_dumps(folder.path(), std::nullopt); }), HasSubstr("--prefix: a_, b_"));
  EXPECT_THAT(read_dumps(folder.path(), "a_").unreadable, SizeIs(1));
}

}  // namespace
}  // namespace titan::trace
