#include "core/nn/callback.hpp"

#include <c10/util/SmallVector.h>

#include <memory>

#include "core/base/abi_error.hpp"
#include "core/base/breadcrumb.hpp"
#include "core/base/plugin_call.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

/// Puts the module's name in front, unless the text starts with a name below it, which says more.
std::string located(const std::string& module, std::string_view text) {
  const std::string own = concat('[', module);
  const bool says_more =
      text.starts_with(own) && text.size() > own.size() && (text[own.size()] == '.' || text[own.size()] == ']');
  return says_more ? std::string(text) : concat(own, "] ", text);
}

[[noreturn]] void throw_callback_error(const std::string& module, titan_error* error) {
  const std::string text = located(module, error->text);
  const bool known =
      (error->code >= TITAN_ERROR_USAGE && error->code <= TITAN_ERROR_NON_FINITE) || error->code == TITAN_ERROR_QUIT;
  const int code = known ? error->code : TITAN_ERROR_INTERNAL;
  delete_abi_error(error);
  throw_abi_error(code, text);
}

/// Runs `call(in, num_in, out, num_out) -> titan_error*` on handles of the tensors.
template <class Call>
Tensors call_plugin(const char* plugin, const std::string& module, std::uint32_t num_outputs, const Tensors& in,
                    Call call) {
  c10::SmallVector<titan_tensor, 8> inputs;
  for (const at::Tensor& tensor : in) inputs.push_back(handle::lend(tensor));
  c10::SmallVector<titan_tensor, 4> outputs(num_outputs, nullptr);
  titan_error* error = nullptr;
  try {
    const BreadcrumbScope scope(plugin, module.c_str());
    error = call(inputs.data(), static_cast<std::uint32_t>(inputs.size()), outputs.data(), num_outputs);
  } catch (const std::exception& escaped) {
    throw PluginError("[", module, "] a C++ exception crossed the plugin boundary: ", escaped.what());
  } catch (...) {
    throw PluginError("[", module, "] a C++ exception crossed the plugin boundary");
  }
  if (error != nullptr) throw_callback_error(module, error);
  Tensors results;
  results.reserve(outputs.size());
  for (const titan_tensor output : outputs) results.push_back(handle::own(output));
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) throw PluginError("[", module, "] the callback left an output unset: number ", i);
  }
  return results;
}

}  // namespace

Tensors run_callback(const Callback& callback, Frame& frame, const Tensors& in) {
  return call_plugin(callback.plugin, *callback.module, frame.num_outputs(), in,
                     [&](const titan_tensor* inputs, std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
                       return callback.forward(callback.self, reinterpret_cast<titan_frame*>(&frame), inputs, num_in,
                                               out, num_out);
                     });
}

void attach_callback(Tree& tree, ModuleId module, std::int32_t priority, std::uint32_t declared, titan_around_fn around,
                     void* self, void (*destroy)(void*)) {
  // Armed only once attached: as long as this function may throw, `self` is the caller's.
  struct Owner {
    void* self;
    void (*destroy)(void*) = nullptr;
    ~Owner() {
      if (destroy != nullptr) destroy(self);
    }
  };
  const auto owner = std::make_shared<Owner>(Owner{self});
  const char* plugin = breadcrumb().plugin;
  const auto body = [owner, around, plugin](Frame& frame, Next next, const Tensors& in) {
    const titan_next rest{reinterpret_cast<titan_tree*>(&frame.tree()), frame.module(), next.index};
    return call_plugin(plugin, frame.tree().name(frame.module()), frame.num_outputs(), in,
                       [&](const titan_tensor* inputs, std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) {
                         return around(owner->self, reinterpret_cast<titan_frame*>(&frame), rest, inputs, num_in, out,
                                       num_out);
                       });
  };
  tree.attach(module, priority, body, declared);
  owner->destroy = destroy;
}

}  // namespace titan::nn
