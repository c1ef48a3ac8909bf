#include "core/plugin/loader.hpp"

#include <string>

#include "core/base/breadcrumb.hpp"
#include "core/base/text.hpp"
#include "core/plugin/describe.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/version_check.hpp"

namespace titan::plugin {
namespace {

const titan_plugin_info* call_query(titan_plugin_query_fn query, const std::string& name) {
  constexpr const char* kSymbol = TITAN_PLUGIN_QUERY_SYMBOL;
  constexpr const char* kRemedy = "return static data, and throw nothing";
  const BreadcrumbScope scope(name.c_str(), kSymbol);
  try {
    return query();
  } catch (const std::exception& escaped) {
    throw LoadProblem(Exit::internal,
                      concat(kSymbol, ": a C++ exception crossed the plugin boundary: ", escaped.what()), kRemedy);
  } catch (...) {
    throw LoadProblem(Exit::internal, concat(kSymbol, ": a C++ exception crossed the plugin boundary"), kRemedy);
  }
}

}  // namespace

Opened open_plugin(const std::filesystem::path& file, LibrarySource& libraries) {
  const titan_plugin_query_fn query = libraries.open(file);
  const titan_plugin_info* info = call_query(query, file.stem().string());
  return {info, read_identity(info)};
}

Facts open_and_describe(const std::filesystem::path& file, LibrarySource& libraries) {
  Opened opened = open_plugin(file, libraries);
  return describe(*opened.info, std::move(opened.identity));
}

}  // namespace titan::plugin
