#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::app {

/// What is to be written, and in which form.
struct Conversion {
  std::filesystem::path target;
  checkpoint::Format format = checkpoint::Format::titan;
  std::optional<checkpoint::DType> dtype;      // given: the model alone, its floating tensors in this dtype
  std::span<const checkpoint::HubName> names;  // of hub files, on either side
  std::optional<checkpoint::Origin> origin;    // of a titan step; none: the source's
};

/// Writes the source, whose tensors have our names (the hub's, where both are hub files), in another form. The target
/// folder appears when all is written. CreateError: it is there, or inside the source's folder or around it; IoError;
/// DataError: the content of the source.
void convert(const checkpoint::Source& source, const Conversion& conversion);

}  // namespace titan::app
