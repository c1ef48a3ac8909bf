#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/plugin/facts.hpp"

namespace titan::plugin {

/// Ending of a manifest's file name: NAME.titan.json lies beside NAME.so.
inline constexpr std::string_view kManifestEnding = ".titan.json";

/// What a plugin says about itself, written down at build time, with the library it was read from.
struct Manifest {
  Facts facts;
  std::string library_file;  // a file name in the manifest's own folder
  std::uint64_t library_size = 0;
  std::string library_hash;  // hash128
};

/// All facts as JSON, in the manifest's form.
nlohmann::ordered_json facts_to_json(const Facts& facts);

/// A manifest's text for a library that was described. InputError when the library cannot be read.
std::string write_manifest(const Facts& facts, const std::filesystem::path& library);

/// Reads a manifest nobody vouches for: bounded, every field checked. LoadProblem: 66 when the file cannot be read, 76
/// when it is broken or of another version.
Manifest read_manifest(const std::filesystem::path& file);

/// True when the library still is the one the manifest was written for.
bool describes(const Manifest& manifest, const std::filesystem::path& library);

/// The manifest's place for a library: beside it, "NAME.titan.json".
std::filesystem::path manifest_path(const std::filesystem::path& library);

}  // namespace titan::plugin
