#pragma once

#include "core/config/sizes.hpp"
#include "core/train/batch_source.hpp"

namespace titan::train {

/// Batches of a rehearsal: as many tokens as a run's, each row one document, and never an end.
class SameRows final : public BatchSource {
 public:
  explicit SameRows(const config::Sizes& sizes) : sizes_(sizes) {}
  std::optional<data::Batch> next() override;
  void rewind() override {}
  std::string state() const override { return {}; }
  void load_state(const std::string& /*state*/) override {}

 private:
  config::Sizes sizes_;
};

}  // namespace titan::train
