// What libtorch asks of every program that adds two numbers with it: the floor under the start of a training run.

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <unistd.h>

int main() {
  const at::Tensor sum = at::add(at::ones({4}), at::ones({4}));
  // Without destructors at exit: a run's first step does not wait for them either.
  ::_exit(sum.data_ptr<float>()[0] == 2.0F ? 0 : 1);
}
