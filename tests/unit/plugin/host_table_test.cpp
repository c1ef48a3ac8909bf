#include "core/plugin/host_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plugin/abi_text.hpp"

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;

config::Config make_config() {
  config::Config::Entries entries;
  const auto add = [&](const char* name, config::Value value) {
    entries[name] = {nullptr, std::move(value), "default"};
  };
  add("a.none", std::monostate{});
  add("a.flag", true);
  add("a.count", std::int64_t{1} << 40U);
  add("a.rate", 0.5);
  add("a.text", std::string("words"));
  add("a.list", std::vector<std::string>{"one", "two"});
  add("a.empty_list", std::vector<std::string>{});
  return {"module", "preset", std::move(entries)};
}

class HostTableTest : public ::testing::Test {
 protected:
  titan_config_value get(const char* name) {
    titan_config_value value{};
    titan_error* error = host_->config_get(host_, borrow(name), &value);
    EXPECT_EQ(error, nullptr);
    host_->error_release(host_, error);
    return value;
  }

  const config::Config config_ = make_config();
  const HostTable table_{HostServices{&config_, nullptr, 3, 8}};
  const titan_host* host_ = table_.get();
};

TEST_F(HostTableTest, IsWhole) {
  EXPECT_EQ(host_->struct_size, sizeof(titan_host));
  EXPECT_EQ(host_->rank, 3U);
  EXPECT_EQ(host_->world_size, 8U);
}

TEST_F(HostTableTest, ErrorsKeepCodeAndText) {
  titan_error* error = host_->error_new(host_, TITAN_ERROR_DATA, borrow("bad line"));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(host_->error_code(host_, error), TITAN_ERROR_DATA);
  EXPECT_EQ(view(host_->error_text(host_, error)), "bad line");
  host_->error_release(host_, error);

  titan_error* wordless = host_->error_new(host_, TITAN_ERROR_IO, {nullptr, 0});
  ASSERT_NE(wordless, nullptr);
  EXPECT_EQ(view(host_->error_text(host_, wordless)), "");
  host_->error_release(host_, wordless);
  host_->error_release(host_, nullptr);
}

TEST_F(HostTableTest, GivesEveryKindOfValue) {
  EXPECT_EQ(get("a.none").kind, TITAN_CONFIG_NONE);
  EXPECT_EQ(get("a.flag").kind, TITAN_CONFIG_BOOL);
  EXPECT_EQ(get("a.flag").boolean, 1);
  EXPECT_EQ(get("a.count").kind, TITAN_CONFIG_INT);
  EXPECT_EQ(get("a.count").integer, std::int64_t{1} << 40U);
  EXPECT_EQ(get("a.rate").kind, TITAN_CONFIG_FLOAT);
  EXPECT_EQ(get("a.rate").floating, 0.5);
  EXPECT_EQ(get("a.text").kind, TITAN_CONFIG_STRING);
  EXPECT_EQ(view(get("a.text").string), "words");
}

TEST_F(HostTableTest, ListsLiveAsLongAsTheTable) {
  const titan_config_value list = get("a.list");
  EXPECT_EQ(list.kind, TITAN_CONFIG_STRINGS);
  ASSERT_EQ(list.num_strings, 2U);
  EXPECT_EQ(view(list.strings[1]), "two");
  EXPECT_EQ(get("a.list").strings, list.strings);
  EXPECT_EQ(get("a.empty_list").kind, TITAN_CONFIG_STRINGS);
  EXPECT_EQ(get("a.empty_list").num_strings, 0U);
}

TEST_F(HostTableTest, RefusesUnknownOptions) {
  titan_config_value value{};
  titan_error* error = host_->config_get(host_, borrow("a.gone"), &value);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(host_->error_code(host_, error), TITAN_ERROR_CONFIG);
  EXPECT_THAT(view(host_->error_text(host_, error)), HasSubstr("no such option: a.gone"));
  host_->error_release(host_, error);
}

TEST(HostTable, KnowsNothingWithoutServices) {
  const HostTable table{HostServices{}};
  const titan_host* host = table.get();
  EXPECT_EQ(host->get_interface(host, borrow("titan.tensor/1")), nullptr);
  titan_config_value value{};
  titan_error* error = host->config_get(host, borrow("a.flag"), &value);
  ASSERT_NE(error, nullptr);
  host->error_release(host, error);
}

TEST(HostTable, PassesInterfacesOn) {
  static constexpr int kTensor = 0;
  const auto find = [](titan_string id) -> const void* { return view(id) == "titan.tensor/1" ? &kTensor : nullptr; };
  const HostTable table{HostServices{nullptr, find, 0, 1}};
  const titan_host* host = table.get();
  EXPECT_EQ(host->get_interface(host, borrow("titan.tensor/1")), &kTensor);
  EXPECT_EQ(host->get_interface(host, borrow("titan.tensor/2")), nullptr);
}

}  // namespace
}  // namespace titan::plugin
