#pragma once

#include "core/config/registry.hpp"

namespace titan::test {

/// The core's options, two model plugins that both declare `model.dim`, an observer, and an option of every type in
/// section `sample`; verbs `train` and `config`.
config::Registry sample_registry();

}  // namespace titan::test
