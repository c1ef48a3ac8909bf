#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/config/engine.hpp"

namespace titan {
namespace {

/// The engine library, opened as the host does.
const Engine* open_engine() {
  void* library = ::dlopen(TITAN_ENGINE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<EngineQuery>(::dlsym(library, "titan_engine_query_v1"))();
}

const void* interface_of(const Engine& engine, const char* id) { return engine.get_interface({id, std::strlen(id)}); }

TEST(Engine, OpensAndSaysWhatItIs) {
  const Engine* engine = open_engine();
  ASSERT_NE(engine, nullptr) << ::dlerror();
  EXPECT_EQ(engine->struct_size, sizeof(Engine));
  EXPECT_STREQ(engine->build_id, kBuildId);
}

TEST(Engine, OffersItsInterfacesById) {
  const Engine* engine = open_engine();
  ASSERT_NE(engine, nullptr);
  EXPECT_NE(interface_of(*engine, TITAN_TENSOR_V1), nullptr);
  EXPECT_NE(interface_of(*engine, TITAN_TREE_V1), nullptr);
  EXPECT_NE(interface_of(*engine, TITAN_COLLECTIVE_V1), nullptr);
  EXPECT_EQ(interface_of(*engine, "titan.tensor/9"), nullptr);
  EXPECT_EQ(engine->get_interface({nullptr, 0}), nullptr);
}

TEST(Engine, ExportsNothingElse) {
  void* library = ::dlopen(TITAN_ENGINE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(::dlsym(library, "_ZN5titan5train5trainERKNS_9EngineRunE"), nullptr);
}

}  // namespace
}  // namespace titan
