#pragma once

#include <memory>

#include "plugins/qwen3/model.hpp"
#include "tests/unit/qwen3/configured.hpp"
#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::qwen3 {

/// A model declared in a tree of the tests.
struct Built {
  explicit Built(const char* preset, ConfiguredHost::Settings settings = {}) : host(preset, settings), tree(host) {
    Scope root(std::make_shared<const sdk::ModuleApi>(sdk::Host(host.table())), tree.handle(), TITAN_MODULE_ROOT);
    build_transformer(root, host.args());
  }

  ConfiguredHost host;
  test::FakeTree tree;
};

}  // namespace titan::qwen3
