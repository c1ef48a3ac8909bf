#include "core/plugin/facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

using ::testing::HasSubstr;

Facts good_facts() {
  Facts facts;
  facts.id = "org.example.good";
  facts.name = "good_2";
  facts.version = "1.2.3-rc.1+build";
  facts.license = "MIT";
  facts.provides = {"titan.model/1", "titan.observer/1"};
  facts.options.resize(2);
  facts.options[0].name = "good.a";
  facts.options[1].name = "good.b";
  facts.presets = {{"base", "", "", {{"good.a", "1"}, {"good.b", "2"}}, "good_2"},
                   {"middle", "", "base", {}, "good_2"},
                   {"top", "", "middle", {{"good.a", "3"}}, "good_2"}};
  return facts;
}

template <class Change>
std::string refusal_after(Change change) {
  Facts facts = good_facts();
  change(facts);
  try {
    check_facts(facts);
    return {};
  } catch (const LoadProblem& problem) {
    EXPECT_EQ(problem.exit(), Exit::internal);
    return problem.what();
  }
}

TEST(Facts, AcceptsAWholePlugin) {
  EXPECT_EQ(refusal_after([](Facts&) {}), "");
}

TEST(Facts, FindsInterfaces) {
  EXPECT_TRUE(good_facts().provides_interface("titan.model/1"));
  EXPECT_FALSE(good_facts().provides_interface("titan.model/2"));
}

TEST(Facts, ChecksTheIdentity) {
  for (const char* name : {"", "Good", "a-b", "a b", "../x", "a\n"}) {
    EXPECT_THAT(refusal_after([&](Facts& f) { f.name = name; }), HasSubstr("its name is not")) << name;
  }
  EXPECT_THAT(refusal_after([](Facts& f) { f.name.assign(65, 'a'); }), HasSubstr("its name is not"));
  for (const char* id : {"", "good", "org example", "org.\x1b[0m"}) {
    EXPECT_THAT(refusal_after([&](Facts& f) { f.id = id; }), HasSubstr("its id is not")) << id;
  }
  for (const char* version : {"", "1", "1.2", "1.2.x", "1..3", "1.2.3 ", "v1.2.3"}) {
    EXPECT_THAT(refusal_after([&](Facts& f) { f.version = version; }), HasSubstr("its version is not")) << version;
  }
  EXPECT_THAT(refusal_after([](Facts& f) { f.license.clear(); }), HasSubstr("no license"));
}

TEST(Facts, ChecksInterfaceIds) {
  for (const char* id : {"", "titan.model", "titan.model/", "/1", "titan.model/1x", "titan model/1"}) {
    EXPECT_THAT(refusal_after([&](Facts& f) { f.provides[0] = id; }), HasSubstr("not NAME/NUMBER")) << id;
  }
  EXPECT_THAT(refusal_after([](Facts& f) { f.provides[1] = f.provides[0]; }), HasSubstr("provides an interface twice"));
}

TEST(Facts, RefusesRepeatedNames) {
  EXPECT_THAT(refusal_after([](Facts& f) { f.options[1].name = "good.a"; }),
              HasSubstr("declares an option twice: good.a"));
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[1].name = "base"; }), HasSubstr("declares a preset twice: base"));
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[0].settings[1].name = "good.a"; }),
              HasSubstr("preset base sets an option twice: good.a"));
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[0].name.clear(); }), HasSubstr("a preset has no name"));
}

TEST(Facts, RefusesBasesThatAreMissingOrCircular) {
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[0].base = "gone"; }),
              HasSubstr("preset base has an unknown base: gone"));
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[0].base = "top"; }), HasSubstr("is based on itself"));
  EXPECT_THAT(refusal_after([](Facts& f) { f.presets[0].base = "base"; }),
              HasSubstr("preset base is based on itself, through base"));
}

}  // namespace
}  // namespace titan::plugin
