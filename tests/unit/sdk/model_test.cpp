#include "titan/sdk/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::sdk {
namespace {

using ::testing::ElementsAre;

class Tiny {
 public:
  static constexpr Identity kIdentity{.id = "org.test.tiny", .name = "tiny", .version = "1.0.0", .license = "MIT"};
  static void describe(Describe&) {}
  explicit Tiny(Host) {}

  titan_model_facts facts(std::int64_t length) const {
    titan_model_facts facts{};
    facts.struct_size = sizeof facts;
    facts.num_layers = 2;
    facts.num_flops_per_token = static_cast<double>(length);
    return facts;
  }
  void build(Scope& root) const {
    root.chain(root.embedding("emb", 4, 2, Init::normal(1)));
    root.loss(root.cross_entropy("loss"));
  }
  std::vector<HfName> hf_names() const { return {{"a", "b"}, {"q", "q_proj", TITAN_HF_ROPE_HALVES, 4}}; }
  std::vector<HfSetting> hf_config(std::string_view json) const {
    if (json.empty()) throw DataError("[tiny] empty");
    return {{"model.text", std::string(json)}};
  }
};

class SdkModel : public ::testing::Test {
 protected:
  SdkModel() { Entry<Tiny, ModelInterface>::info()->init(host_.table(), &ctx_); }
  ~SdkModel() override {
    Entry<Tiny, ModelInterface>::info()->shutdown(ctx_);
    EXPECT_EQ(host_.live_errors(), 0);
  }

  test::FakeHost host_;
  void* ctx_ = nullptr;
  const titan_model_v1& table_ = *static_cast<const titan_model_v1*>(ModelInterface<Tiny>::table());
};

TEST_F(SdkModel, FactsFillWhatTheReaderKnows) {
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  EXPECT_EQ(host_.take(table_.facts(ctx_, 128, &facts)), "");
  EXPECT_EQ(facts.num_layers, 2u);
  EXPECT_EQ(facts.num_flops_per_token, 128);

  titan_model_facts older{};
  older.struct_size = offsetof(titan_model_facts, num_flops_per_token);
  older.num_flops_per_token = -1;
  EXPECT_EQ(host_.take(table_.facts(ctx_, 128, &older)), "");
  EXPECT_EQ(older.struct_size, offsetof(titan_model_facts, num_flops_per_token));
  EXPECT_EQ(older.num_layers, 2u);
  EXPECT_EQ(older.num_flops_per_token, -1);
}

TEST_F(SdkModel, BuildsThroughTheTree) {
  test::FakeTree tree(host_);
  EXPECT_EQ(host_.take(table_.build(ctx_, tree.handle())), "");
  EXPECT_THAT(tree.chain(), ElementsAre("emb"));
  EXPECT_EQ(tree.loss(), "loss");
}

TEST_F(SdkModel, BuildWithoutATreeInterfaceIsAnError) {
  EXPECT_THAT(host_.take(table_.build(ctx_, nullptr)), ::testing::HasSubstr("76: "));
}

TEST_F(SdkModel, EmitsNamesAndStopsAtAnErrorOfTheSink) {
  struct Sink {
    test::FakeHost& host;
    std::vector<std::string> names;
  } sink{host_, {}};
  const auto emit = [](void* ctx, const titan_hf_name* name) -> titan_error* {
    auto& s = *static_cast<Sink*>(ctx);
    s.names.push_back(concat(view(name->name), "=", view(name->hf_name), "/", name->transform, "/", name->num_heads));
    return s.names.size() < 3 ? nullptr : s.host.table()->error_new(s.host.table(), TITAN_ERROR_IO, borrow("full"));
  };
  EXPECT_EQ(host_.take(table_.hf_names(ctx_, &sink, emit)), "");
  EXPECT_THAT(sink.names, ElementsAre("a=b/0/0", "q=q_proj/1/4"));
  EXPECT_EQ(host_.take(table_.hf_names(ctx_, &sink, emit)), "74: full");
}

TEST_F(SdkModel, TranslatesAConfig) {
  std::string seen;
  const auto emit = [](void* ctx, titan_string option, titan_string value) -> titan_error* {
    *static_cast<std::string*>(ctx) = concat(view(option), "=", view(value));
    return nullptr;
  };
  EXPECT_EQ(host_.take(table_.hf_config(ctx_, borrow("{}"), &seen, emit)), "");
  EXPECT_EQ(seen, "model.text={}");
  EXPECT_EQ(host_.take(table_.hf_config(ctx_, kAbsent, &seen, emit)), "65: [tiny] empty");
}

}  // namespace
}  // namespace titan::sdk
