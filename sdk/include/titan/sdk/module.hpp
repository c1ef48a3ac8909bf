#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "titan/sdk/frame.hpp"

namespace titan::sdk {

/// Base of a model's own modules. A derived class has a constructor (Scope&, ...) that declares its children and
///   Tensor forward(Frame& f, const Tensor& x, ...) const      (or std::array<Tensor, N> for several outputs).
/// Its instances live in the host's tree.
class Module {
 public:
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 protected:
  Module() = default;
  ~Module() = default;
};

namespace module_detail {

template <class Result>
struct NumOutputs;
template <>
struct NumOutputs<Tensor> : std::integral_constant<std::size_t, 1> {};
template <std::size_t kCount>
struct NumOutputs<std::array<Tensor, kCount>> : std::integral_constant<std::size_t, kCount> {};

/// Shape of a forward function, read from its type.
template <class Function>
struct Signature;
template <class M, class Result, class... Inputs>
struct Signature<Result (M::*)(Frame&, Inputs...) const> {
  static_assert((std::same_as<std::remove_cvref_t<Inputs>, Tensor> && ...), "inputs of a forward are Tensors");
  static constexpr std::size_t kInputs = sizeof...(Inputs);
  static constexpr std::size_t kOutputs = NumOutputs<Result>::value;
};

/// Inputs of a callback as Tensors that do not own their reference.
template <std::size_t kCount>
class Borrowed {
 public:
  template <std::size_t... kIndex>
  Borrowed(const TensorApi& api, const titan_tensor* in, std::index_sequence<kIndex...>)
      : tensors_{Tensor(api, in[kIndex])...} {}
  ~Borrowed() {
    for (Tensor& tensor : tensors_) tensor.release();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  const Tensor& operator[](std::size_t index) const noexcept { return tensors_[index]; }

 private:
  std::array<Tensor, kCount> tensors_;
};

/// What the tree owns for one custom module: `self` of its callbacks.
template <class M>
struct Box {
  using Forward = Signature<decltype(&M::forward)>;
  std::shared_ptr<const ModuleApi> api;
  std::optional<M> module;

  static titan_error* forward(void* self, titan_frame* frame, const titan_tensor* in, std::uint32_t num_in,
                              titan_tensor* out, std::uint32_t num_out) noexcept {
    const Box& box = *static_cast<const Box*>(self);
    return guard(box.api->host().table(), [&] {
      if (num_in != Forward::kInputs || num_out != Forward::kOutputs)
        throw InternalError("[module] forward was called with other counts than it has: inputs ", num_in, " of ",
                            Forward::kInputs, ", outputs ", num_out, " of ", Forward::kOutputs);
      box.run(frame, in, out, std::make_index_sequence<Forward::kInputs>());
    });
  }

  static void destroy(void* self) noexcept { delete static_cast<Box*>(self); }

 private:
  template <std::size_t... kIndex>
  void run(titan_frame* raw, const titan_tensor* in, titan_tensor* out, std::index_sequence<kIndex...> indices) const {
    Frame frame(*api, raw);
    const Borrowed<Forward::kInputs> inputs(api->tensors, in, indices);
    auto result = module->forward(frame, inputs[kIndex]...);
    if constexpr (Forward::kOutputs == 1) {
      out[0] = result.release();
    } else {
      for (std::size_t i = 0; i < Forward::kOutputs; ++i) out[i] = result[i].release();
    }
  }
};

}  // namespace module_detail

}  // namespace titan::sdk
