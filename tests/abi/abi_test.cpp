#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>

#include "titan/abi/all.h"

extern "C" int host_has_config_get(const titan_host* host);

namespace {

template <class... Structs>
constexpr bool begin_with_their_size() {
  return ((offsetof(Structs, struct_size) == 0 && std::is_same_v<decltype(Structs::struct_size), std::uint32_t> &&
           std::is_standard_layout_v<Structs> && std::is_trivially_copyable_v<Structs>)&&...);
}
static_assert(begin_with_their_size<titan_option, titan_preset, titan_describe_sink, titan_host, titan_plugin_info,
                                    titan_tensor_v1, titan_parameter, titan_tree_v1, titan_model_facts, titan_model_v1,
                                    titan_run_event, titan_step_event, titan_validation_event, titan_run_end_event,
                                    titan_observer_v1>(),
              "the struct rule: the first member of every growable struct is its size");

// Frozen: these stand in arrays and files, and never grow.
static_assert(sizeof(titan_string) == 16 && sizeof(titan_setting) == 32);
static_assert(sizeof(titan_value) == 16);
static_assert(sizeof(titan_config_value) == 56);
static_assert(sizeof(titan_plugin_note) == 36 && offsetof(titan_plugin_note, abi_major) == 20);

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

TEST(Abi, AllIncludesEveryHeader) {
  const std::filesystem::path folder = TITAN_ABI_FOLDER;
  const std::string all = text_of(folder / "all.h");
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".h" || name == "all.h") continue;
    EXPECT_THAT(all, testing::HasSubstr("#include \"titan/abi/" + name + "\"\n"));
    ++count;
  }
  EXPECT_GE(count, 8U);
}

TEST(Abi, HeadersIncludeNothingButTheAbiAndFixedWidthIntegers) {
  for (const auto& entry : std::filesystem::directory_iterator(TITAN_ABI_FOLDER)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with("#include")) continue;
      EXPECT_THAT(line, testing::AnyOf("#include <stddef.h>", "#include <stdint.h>",
                                       testing::StartsWith("#include \"titan/abi/")))
          << entry.path();
    }
  }
}

TEST(Abi, HasSeesFieldsInsideTheProducersSize) {
  titan_host host{};
  host.struct_size = sizeof host;
  EXPECT_TRUE(TITAN_HAS(&host, config_get));
  EXPECT_EQ(host_has_config_get(&host), 1);
  host.struct_size = sizeof host + 64;  // a newer producer
  EXPECT_TRUE(TITAN_HAS(&host, config_get));
}

TEST(Abi, HasSeesNoFieldBeyondAShortStruct) {
  titan_host host{};
  host.struct_size = offsetof(titan_host, config_get);
  EXPECT_FALSE(TITAN_HAS(&host, config_get));
  EXPECT_EQ(host_has_config_get(&host), 0);
  EXPECT_TRUE(TITAN_HAS(&host, get_interface));
  host.struct_size = offsetof(titan_host, config_get) + 1;  // a field cut in two is no field
  EXPECT_FALSE(TITAN_HAS(&host, config_get));
  host.struct_size = 0;
  EXPECT_FALSE(TITAN_HAS(&host, struct_size));
}

TEST(Abi, TheNoteIsALinkersNote) {
  const titan_plugin_note note = {6, 16, 1, {'t', 'i', 't', 'a', 'n', 0, 0, 0}, 0, 1, 1, TITAN_TIER_STABLE};
  EXPECT_EQ(note.name_size, std::strlen(note.name) + 1);
  EXPECT_EQ(note.desc_size, sizeof note - offsetof(titan_plugin_note, abi_major));
}

}  // namespace
