#include <string>

#include "core/checkpoint/index_check.hpp"
#include "core/checkpoint/index_of.hpp"
#include "fuzz/fuzz_target.hpp"

namespace {

using namespace titan::checkpoint;

const std::string kSaveId(32, '7');

/// A shard that holds parts of three tensors; `parts` says of which.
SafetensorsHeader shard_of(std::string_view parts) {
  SafetensorsHeader header;
  header.entries = {{{"none", DType::f32, {0, 3}}, 4096, 4096},
                    {{"w", DType::f32, {3, 2}}, 4096, 4120},
                    {{"count", DType::i64, {}}, 4120, 4128}};
  header.metadata = {{"format", "titan"}, {"save_id", kSaveId}, {"parts", std::string(parts)}};
  header.file_size = 4128;
  return header;
}

/// The input says where the parts of one shard belong. Whatever it says, an index that is accepted has each element
/// once.
void parse(std::string_view input) {
  const ShardReport report{"s", 4128, std::string(32, '0'), std::uint64_t{1} << 20U, {std::string(32, '0')}};
  Index index;
  add_shard(index, shard_of(input), report, kSaveId, "input");
  check_index(index, "input");
  titan::fuzz::expect(index.tensors.size() == 3 && index.tensors.at("none").parts.empty());
  titan::fuzz::expect(index.tensors.at("w").shape == std::vector<std::int64_t>{3, 2});
  titan::fuzz::expect(read_index(write_index(index), "written") == index);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return titan::fuzz::run(data, size, parse);
}
