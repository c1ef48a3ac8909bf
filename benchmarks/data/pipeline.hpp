#pragma once

#include <filesystem>
#include <memory>

namespace titan::benchmark {

/// Where text and tokenizer come from.
struct DataInputs {
  std::filesystem::path dataset;
  std::filesystem::path tokenizer;
};

/// Seconds for a number of tokens.
struct Passage {
  double seconds = 0;
  double tokens = 0;
};

/// The data set, from its files to ids to batches of 8 x 2,048, on the calling thread.
class Pipeline {
 public:
  explicit Pipeline(const DataInputs& inputs);
  ~Pipeline();

  /// The next batches.
  Passage make(int batches);
  /// The baseline: reads the same documents and does nothing with them, as many bytes as `make` turned into `tokens`.
  Passage read(double tokens);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace titan::benchmark
