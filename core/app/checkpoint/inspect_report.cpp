#include "core/app/checkpoint/inspect_report.hpp"

#include <map>

#include "core/app/aligned_table.hpp"
#include "core/app/checkpoint/tensor_facts.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/checkpoint/model_tensors.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::app {
namespace {

using checkpoint::Source;
using checkpoint::StoredTensor;

std::string counted(std::size_t count, const char* what) { return concat(count, ' ', what, count == 1 ? "" : "s"); }

/// Tensors of one kind, by dtype.
struct Sum {
  std::size_t tensors = 0;
  std::int64_t elements = 0;
  std::uint64_t bytes = 0;
  std::map<std::string, std::int64_t> elements_by_dtype;

  void add(const StoredTensor& tensor) {
    ++tensors;
    elements += elements_of(tensor);
    bytes += bytes_of(tensor);
    elements_by_dtype[std::string(checkpoint::torch_name(tensor.dtype))] += elements_of(tensor);
  }

  std::string text() const {
    std::vector<std::string> dtypes;
    for (const auto& [dtype, count] : elements_by_dtype) {
      dtypes.push_back(elements_by_dtype.size() == 1 ? dtype : concat(count, " of ", dtype));
    }
    return concat(counted(tensors, "tensor"), ", ", elements, " elements, ", bytes_text(bytes), ", ",
                  join(dtypes, ", "));
  }
};

void add_manifest(const checkpoint::Manifest& manifest, std::vector<Row>& rows) {
  rows.push_back({"step", concat(manifest.step)});
  rows.push_back({"contents", std::string(checkpoint::contents_name(manifest.contents))});
  rows.push_back({"save id", printable(manifest.save_id)});
  const checkpoint::Origin& origin = manifest.origin;
  if (!origin.mesh.empty()) rows.push_back({"saved by", printable(origin.mesh)});
  if (!origin.module.empty()) {
    rows.push_back(
        {"model", concat(printable(origin.module), origin.preset.empty() ? "" : ", ", printable(origin.preset))});
  }
  for (const std::string& plugin : origin.plugins) rows.push_back({"plugin", printable(plugin)});
}

void add_train_state(const checkpoint::TrainState& state, std::vector<Row>& rows) {
  rows.push_back({"train state",
                  concat("step ", state.step, ", ", state.num_tokens, " tokens, schedule at step ", state.schedule_step,
                         state.dataloader ? ", with" : ", without", " the place in the data")});
}

void add_tensors(const Source& source, std::vector<Row>& rows) {
  Sum model, optimizer, generators;
  for (const auto& [name, tensor] : source.tensors) {
    const bool is_generator = checkpoint::is_generator_state(name);
    (checkpoint::is_model_tensor(name) ? model : is_generator ? generators : optimizer).add(tensor);
  }
  rows.push_back({"model", model.text()});
  if (optimizer.tensors > 0) rows.push_back({"optimizer", optimizer.text()});
  if (generators.tensors > 0) rows.push_back({"generators", generators.text()});
}

std::string tensor_table(const Source& source) {
  std::vector<Row> rows;
  for (const auto& [name, tensor] : source.tensors) {
    rows.push_back({printable(name), std::string(checkpoint::torch_name(tensor.dtype)),
                    checkpoint::shape_text(tensor.shape), bytes_text(bytes_of(tensor)),
                    counted(tensor.parts.size(), "part")});
  }
  return aligned(rows);
}

}  // namespace

std::uint64_t bytes_of_files(const Source& source) {
  std::uint64_t bytes = 0;
  for (const checkpoint::StoredFile& file : source.files) bytes += file.size;
  return bytes;
}

std::uint64_t bytes_of_step(const checkpoint::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const checkpoint::ManifestFile& file : manifest.files) bytes += file.size;
  return bytes;
}

std::string inspect_text(const Source& source, bool with_tensors) {
  std::vector<Row> rows{{"format", format_name(source.format)}};
  if (source.manifest) add_manifest(*source.manifest, rows);
  if (source.train_state) add_train_state(*source.train_state, rows);
  rows.push_back({"files", concat(source.files.size(), " with tensors, ", bytes_text(bytes_of_files(source)))});
  add_tensors(source, rows);
  return concat(printable(source.folder.native()), "\n", aligned(rows), with_tensors ? "\n" : "",
                with_tensors ? tensor_table(source) : "");
}

std::string inspect_text(const Located& located) {
  std::vector<Row> rows;
  const LocatedStep* newest = located.newest();
  for (const LocatedStep& step : located.steps) {
    const std::string format = step.format ? format_name(*step.format) : "-";
    const std::string contents(step.manifest ? checkpoint::contents_name(step.manifest->contents) : "-");
    const std::string size = step.manifest ? bytes_text(bytes_of_step(*step.manifest)) : "-";
    const std::string state = !step.problem.empty() ? concat("not committed: ", step.problem)
                              : &step == newest     ? "newest"
                                                    : "";
    rows.push_back({checkpoint::step_name(step.step), format, contents, size, state});
  }
  return concat(printable(located.folder.native()), ": ", counted(rows.size(), "step"), "\n", aligned(rows));
}

}  // namespace titan::app
