#pragma once

#include <optional>
#include <string>

#include "core/data/loader.hpp"

namespace titan::train {

/// Where micro-batches come from. Used by one thread.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next micro-batch; none when the stream ended.
  virtual std::optional<data::Batch> next() = 0;
  /// Starts the stream again from where it began.
  virtual void rewind() = 0;
  /// Where the stream stands after the batches handed out so far, as text: see data::Loader::state().
  virtual std::string state() const = 0;
  /// Goes on from such a place. DataError when it belongs to another stream.
  virtual void load_state(const std::string& state) = 0;
};

/// A loader's batches.
class LoaderSource final : public BatchSource {
 public:
  explicit LoaderSource(data::Loader loader);
  std::optional<data::Batch> next() override { return loader_.next(); }
  void rewind() override;
  std::string state() const override { return loader_.state(); }
  void load_state(const std::string& state) override { loader_.load_state(state); }

 private:
  data::Loader loader_;
  std::string beginning_;
};

}  // namespace titan::train
