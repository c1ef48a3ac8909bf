#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace titan::data {

enum class FileKind {
  json_lines,             // .jsonl: one object with a string "text" a line
  compressed_json_lines,  // .jsonl.gz
  text,                   // .txt: one document a file
};

struct DatasetFile {
  std::filesystem::path path;
  FileKind kind = FileKind::json_lines;
};

/// Lists the text files of a data set: the file itself, or those below a folder, at any depth, in the byte order of
/// their relative paths. Leaves out names that begin with a dot and names of other kinds. InputError: nothing there, or
/// not readable, or no such file. DataError: a link that leads out of the folder.
std::vector<DatasetFile> find_dataset_files(const std::filesystem::path& path);

}  // namespace titan::data
