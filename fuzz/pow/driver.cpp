// SPDX-License-Identifier: BSD-3-Clause
// scute-fuzz-pow: random inputs, or those of files (random_inputs.hpp).
#include "random_inputs.hpp"
#include "run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  scute::fuzz::run_store({data, size});
  return 0;
}

#ifndef SCUTE_FUZZ_GUIDED
int main(int argc, char** argv) {
  return scute::fuzz::run_inputs(
      argc, argv, 20, [](std::span<const uint8_t> in) { scute::fuzz::run_store(in); },
      [] { scute::fuzz::planted_lie = true; });
}
#endif
